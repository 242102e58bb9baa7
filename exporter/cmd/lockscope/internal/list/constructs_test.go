package list

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestListShowsConstructs reads an election, a set and a semaphore off the nodes.
func TestListShowsConstructs(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Constructs(t, servers)
	args := []string{"list", "--redis", cmdtest.Addrs(servers...)}
	var r report
	cmdtest.Eventually(t, "the waiters and one deadlock", func() bool {
		r = report{}
		command(t, append(args, "-o", "json")...).Decode(t, &r)
		return len(r.Deadlocks) > 0 && waitsOf(r, "leader") == 2 && waitsOf(r, "jobs#0") == 1 && waitsOf(r, "order") == 1
	})
	if len(r.Deadlocks) != 1 || !strings.HasPrefix(r.Deadlocks[0], `"leader" (fence `) {
		t.Errorf("deadlocks %q, want the election and the lock", r.Deadlocks)
	}
	for _, l := range r.Locks {
		kind, slots, inUse := "", 0, -1
		switch l.Resource {
		case "leader":
			kind = "election"
		case "a", "b":
			kind = "set"
		case "jobs#0", "jobs#1":
			kind, slots, inUse = "semaphore", 3, 2
		}
		if string(l.Kind) != kind || l.Slots != slots || (l.SlotsInUse == nil) != (inUse < 0) ||
			l.SlotsInUse != nil && *l.SlotsInUse != inUse || string(l.Holder.Kind) != kind {
			t.Errorf("%s: kind %q, %d slots, in use %v", l.Resource, l.Kind, l.Slots, l.SlotsInUse)
		}
	}
	o := command(t, args...)
	o.Want(t, o.Status, "KIND", "election, term ", "2 candidates, ", "semaphore, 2 of 3 slots in use", "set", "DEADLOCK:")
	o = command(t, append(args, "--filter", "jobs#1")...)
	o.Want(t, o.Status, "semaphore, 3 slots") // the other slots were not asked for
}
