package top

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestOnceShowsWhoBlocksWhom(t *testing.T) {
	servers := locktest.Servers(t, 5)
	cmdtest.VouchFor(t, servers...)
	f := newServices(t, servers)
	f.chain()
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "both locks with their waiters", func() bool {
		o = command(t, "top", "--once", "--redis", cmdtest.Addrs(servers...))
		return strings.Contains(o.Out, "for stock:7, held by stock-2") && strings.Contains(o.Out, "4 calls wait")
	})
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitClean, "4 calls wait for 2 locks", "5 of 5 nodes vote, 3 needed",
		"all keys searched", servers[4].Addr(),
		"order:1001: held by orders-1, which waits",
		"stock-2, which holds stock:7, keeps 4 calls waiting")
	o.WantNot(t, "\x1b")
}
