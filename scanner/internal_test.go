package scanner

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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
	tgt := &target{name: "node", source: s.sources[0], watch: newWatch(10), pass: pass{from: 1}}
	r := &run{Scanner: s, started: time.Now(), orphans: newOrphans(s.sources)}
	page := pageReply{next: "1", locks: 5}
	for i := range 5 {
		page.values = append(page.values, value{key: fmt.Sprint("lock:", i), ttl: never, kind: kindString, size: 1, head: "1"})
	}
	var rep NodeReport
	for range 3 {
		if err := r.take(t.Context(), tgt, &rep, &page); err != nil {
			t.Fatal(err)
		}
	}
	_, pending, resolved, overflow := s.ledger.lists()
	if len(pending) != 5 || len(resolved) != 0 || overflow != 0 || rep.Unwatched != 0 || len(tgt.watch.seen) != 5 {
		t.Errorf("%d pending, %d resolved, %d overflow, %d watched", len(pending), len(resolved), overflow, len(tgt.watch.seen))
	}
}

// TestBadReplies are answers that no script of ours gives.
func TestBadReplies(t *testing.T) {
	for _, reply := range []any{
		nil, "", []any{}, []any{"0", int64(1)}, []any{int64(0), int64(1), []any{}}, []any{"0", "1", []any{}},
		[]any{"0", int64(1), []any{"x"}},
		[]any{"0", int64(1), []any{[]any{"k", int64(-1), "string"}}},
		[]any{"0", int64(1), []any{[]any{"k", "-1", "string", int64(0), ""}}},
		[]any{"0", int64(1), []any{[]any{"k", int64(-1), "string", int64(0), int64(7)}}},
	} {
		if _, err := parsePage(reply); err == nil {
			t.Errorf("%v: no error", reply)
		}
	}
}
