package top

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestTopShowsReaders reads a read/write lock off the nodes: its readers, and the writer that waits for both.
func TestTopShowsReaders(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.ReadWrite(t, servers, true)
	var o cmdtest.Outcome
	t.Cleanup(func() { t.Log("\n" + o.Out) })
	cmdtest.Eventually(t, "the waiters and the deadlock", func() bool {
		o = command(t, "top", "--once", "--redis", cmdtest.Addrs(servers...))
		return strings.Contains(o.Out, "DEADLOCK in redis") && strings.Contains(o.Out, "1 to write")
	})
	o.Want(t, ui.ExitClean, "read/write lock, 2 readers, 1 to write", "2 holders",
		"billing-1 holds prices and waits for stock")
	if n := strings.Count(o.Out, "DEADLOCK in "); n != 1 {
		t.Errorf("%d deadlocks, want one", n)
	}
}
