package listing

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

func TestOrders(t *testing.T) {
	locks := []Lock{
		{Key: "a", Resource: "a", TTL: time.Second, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(5, 0)}}},
		{Key: "b", Resource: "b", TTL: -1},
		{Key: "c", Resource: "c", TTL: time.Hour, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(3, 0)}}},
		{Key: "d", Resource: "d", TTL: 0, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(9, 0)}}},
	}
	for order, want := range map[Order]string{ByTTL: "bcad", ByAge: "cadb", ByResource: "abcd"} {
		compare := order.comparison()
		sorted := slices.Clone(locks)
		slices.SortFunc(sorted, func(a, b Lock) int { return compare(&a, &b) })
		got := ""
		for _, l := range sorted {
			got += l.Key
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
}

// TestDoneHoldersAreInNoCycle: the holder of a lock that is kept after its release waits for nobody with it.
func TestDoneHoldersAreInNoCycle(t *testing.T) {
	for _, done := range []bool{false, true} {
		waitsFor := func(waiter, its, wanted, holder string, done bool) WaitedFor {
			says := records.Waiting{Holder: lock.Holder{Instance: waiter, Since: time.Unix(1, 0)}, Callers: 1,
				Holds: []lock.HeldLease{{Resource: its, Fence: 7}}}
			return WaitedFor{Resource: wanted, Queue: []stored.Queued{{Says: &says}}, Lock: &Lock{Resource: wanted,
				Hold: inspect.Hold{Format: inspect.FormatLockscope, Fence: 7, Holder: lock.Holder{Instance: holder, Done: done}}}}
		}
		g := Graph([]WaitedFor{waitsFor("one", "a", "b", "two", false), waitsFor("two", "b", "a", "one", done)})
		if cycles := g.Cycles(); len(cycles) > 0 == done {
			t.Errorf("done %v: cycles %v", done, cycles)
		}
	}
}
