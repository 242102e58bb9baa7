package top

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestTopShowsConstructs reads an election and a semaphore off the nodes.
func TestTopShowsConstructs(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Constructs(t, servers)
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "the waiters and the deadlock", func() bool {
		o = command(t, "top", "--once", "--redis", cmdtest.Addrs(servers...))
		return strings.Contains(o.Out, "DEADLOCK in redis") && strings.Contains(o.Out, "semaphore, 2 of 3 slots in use")
	})
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitClean, "KIND", "election, term ", "semaphore, 2 of 3 slots in use", "2 holders")
	o.WantNot(t, "jobs#0")
	if n := strings.Count(o.Out, "DEADLOCK in "); n != 1 {
		t.Errorf("%d deadlocks, want that of the election", n)
	}
}
