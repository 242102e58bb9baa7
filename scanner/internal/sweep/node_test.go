package sweep

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/internal/silence"
)

// TestPageTwice reads a page twice, as if SCAN had returned all of its keys twice.
func TestPageTwice(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "unused:1"})
	defer client.Close()
	sources, err := node.NewSources([]redis.UniversalClient{client}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sources[0].Close()
	cfg := &Settings{
		Scope: keyreader.Scope{Patterns: []string{"lock:*"}, PageSize: 500},
		Rules: judge.Rules{
			TTLLimit: time.Hour, HoldLimit: time.Hour,
			Checks: map[inspect.Class]bool{
				inspect.NoTTL: true, inspect.LongTTL: true, inspect.HeldTooLong: true, inspect.Orphan: true,
				inspect.ForeignType: true,
			},
		},
		Deadline: time.Minute, MaxWatched: 10, MaxValues: -1, Now: time.Now, Silence: silence.New(),
	}
	found, watch := registry.New(5), holders.NewWatch(10, holders.NewDigest())
	c := node.Connection{Node: "node", Source: sources[0]}
	n := newNodeSweep(c, cfg, &remembered{watch: watch}, found, orphan.New(sources), coverage.NewValues(nil, nil))
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
	_, pending, resolved := found.Lists()
	overflow := len(found.Omitted())
	if len(pending) != 5 || len(resolved) != 0 || overflow != 0 || n.report.Unwatched != 0 ||
		len(watch.Save().Watched) != 0 { // locks without a TTL are found without being watched
		t.Errorf("%d pending, %d resolved, %d overflow, %d watched", len(pending), len(resolved), overflow,
			len(watch.Save().Watched))
	}
}
