package scanner

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/proof"
)

// TestPageTwice takes a page again, as if SCAN had returned all of its keys twice.
func TestPageTwice(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "unused:1"})
	defer client.Close()
	s, err := New([]redis.UniversalClient{client}, WithMaxFindings(5))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := node.Connection{Node: "node", Source: s.sources[0]}
	n := newNodeSweep(c, &s.cfg, &remembered{watch: newWatch(10, digest.New())}, s.ledger, orphan.New(s.sources), proof.NewValues(nil, nil))
	page := keyreader.Page{Next: "1", Keys: 5}
	for i := range 5 {
		page.Values = append(page.Values, keyreader.Value{
			Key: fmt.Sprint("lock:", i), TTL: keyreader.Never, Type: keyreader.String, Size: 1, Head: "1",
		})
	}
	for range 3 {
		if locks, err := n.take(t.Context(), &page); err != nil || locks != 5 {
			t.Fatal(locks, err)
		}
	}
	_, pending, resolved := s.ledger.Lists()
	overflow := len(s.ledger.Omitted())
	if len(pending) != 5 || len(resolved) != 0 || overflow != 0 || n.report.Unwatched != 0 || len(n.memory.watch.seen) != 0 { // what has no TTL is found without being watched
		t.Errorf("%d pending, %d resolved, %d overflow, %d watched", len(pending), len(resolved), overflow, len(n.memory.watch.seen))
	}
}
