package fleet_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/fleet"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner"
)

// TestAPageOfTwoSystems: a process waits for locks of one name on Redis, which serve reads, and on PostgreSQL.
func TestAPageOfTwoSystems(t *testing.T) {
	now := time.Now()
	const url = "http://10.0.0.7:9090/debug/locks"
	call := func(backend, site string) fleet.Call {
		return fleet.Call{Resource: "order:1", Backend: backend, CallSite: site, For: 3}
	}
	pages := []fleet.Page{{
		URL: url, Instance: "orders/1", Read: now,
		Calls:  []fleet.Call{call("redis", "old.go:1"), call("postgresql", "new.go:1")},
		Counts: []fleet.Count{{"order:1", "postgresql", 7}, {"order:1", "redis", 2}},
	}}
	queued := func(says *records.Waiting) *scanner.Waits {
		return &scanner.Waits{Graph: waitgraph.New(), Locks: []scanner.WaitedFor{{
			Resource: "order:1", Processes: 1, At: now,
			Queue: []redlock.Queued{{ID: "1", Since: now.Add(-3 * time.Second), Says: says}},
		}}}
	}
	of := lock.Holder{Instance: "orders/1", Page: url, Since: now.Add(-3 * time.Second)}
	for name, c := range map[string]struct {
		waits            *scanner.Waits
		onRedis, waiters int // calls and rows of the lock on nodes that are read
	}{
		"its queue entry names the nodes": {queued(&records.Waiting{Holder: of, Callers: 2, Backend: "redis"}), 2, 1},
		"it has not said who it is":       {queued(nil), 3, 2},
		"no node has heard of it":         {nil, 2, 1},
	} {
		d := fleet.Merge(c.waits, pages, now)
		var onRedis, elsewhere int
		for _, r := range d.Resources {
			for _, w := range r.Waiters {
				for _, call := range w.Calls {
					if (r.Backend == "postgresql") != (call.Backend == "postgresql") {
						t.Errorf("%s: among those who wait on %q: %+v", name, r.Backend, call)
					}
				}
			}
			switch {
			case r.Backend == "postgresql" && r.OnlyPages:
				elsewhere += r.Waiting
			case r.Backend == "" && len(r.Waiters) == c.waiters:
				onRedis += r.Waiting
			}
		}
		if onRedis != c.onRedis || elsewhere != 7 {
			t.Errorf("%s: %d wait on Redis, want %d, and %d elsewhere, want 7: %+v", name, onRedis, c.onRedis,
				elsewhere, d.Resources)
		}
	}
}
