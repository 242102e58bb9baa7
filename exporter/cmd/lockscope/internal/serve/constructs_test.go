package serve

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestServeShowsConstructs reads an election, a set and a semaphore off the nodes.
func TestServeShowsConstructs(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Constructs(t, servers)
	url, _ := serving(t, "--redis", cmdtest.Addrs(servers...), "--waits-every", "0")
	var s state.State
	cmdtest.Eventually(t, "it shows the waiters and the deadlock", func() bool {
		s = stateOf(t, url)
		return len(s.Blocked) == 4 && len(s.Deadlocks) == 1
	})
	if len(s.Deadlocks[0].Cycle) != 2 {
		t.Errorf("deadlocks %+v, want the election and the lock", s.Deadlocks)
	}
	for _, b := range s.Blocked {
		switch b.Resource {
		case "leader":
			if b.Kind != "election" || !b.Deadlock || b.Waiting != 2 || b.Holder.Fence == 0 {
				t.Errorf("row %+v", b)
			}
		case "jobs#0":
			if b.Kind != "semaphore" || b.Slots != 3 || b.SlotsInUse != 2 || b.Deadlock {
				t.Errorf("row %+v", b)
			}
		default:
			if b.Kind != "" {
				t.Errorf("row %+v", b)
			}
		}
	}
	if n := s.Totals; n.Candidates != 2 || n.Contended != 3 || s.Blocked[3].Resource != "leader" {
		t.Errorf("totals %+v, want two candidates that stand by, and the election last of %+v", n, s.Blocked)
	}
	kinds := make(map[string]int)
	for _, h := range s.Held {
		kinds[h.Kind]++
	}
	if kinds["election"] != 1 || kinds["set"] != 2 || kinds["semaphore"] != 2 {
		t.Errorf("kinds of held locks: %v", kinds)
	}
}
