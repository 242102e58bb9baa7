package top

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestPagesAddRates, and the waits that no node knows of because there is no quorum.
func TestPagesAddRates(t *testing.T) {
	servers := locktest.Servers(t, 3)
	orders, page := cmdtest.Paged(t, "orders-1", servers)
	truck, _ := cmdtest.Paged(t, "truck-3", servers)
	held, err := orders.Acquire(t.Context(), "order:1001", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	defer func() { _ = held.Release(context.Background()) }()
	ctx, giveUp := context.WithCancel(t.Context())
	s := newServices(t, servers)
	defer giveUp()
	for range 2 {
		s.calls.Go(func() { _, _ = truck.Acquire(ctx, "order:1001") })
	}
	args := []string{"top", "--once", "--redis", cmdtest.Addrs(servers...)}
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "the page of the waiter is read", func() bool {
		o = command(t, append(args, "--pages", "127.0.0.1")...)
		return strings.Contains(o.Out, "(2 of 2 pages)") && strings.Contains(o.Out, "2 calls wait for 1 lock")
	})
	t.Log("\n" + o.Out)
	o.WantNot(t, "acquired -")
	command(t, args...).Want(t, ui.ExitClean, "acquired -", "(0 of 2 pages)\nmore pages: --pages '127.0.0.1'\n")

	for _, dead := range servers[1:] {
		cmdtest.Must(t, dead.Kill())
	}
	s.calls.Go(func() { _, _ = orders.Acquire(ctx, "stock:7") })
	cmdtest.Eventually(t, "a wait without a quorum", func() bool {
		o = command(t, append(args, "--page", page)...)
		return strings.Contains(o.Out, "(no_quorum)")
	})
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitError, "stock:7", "NO QUORUM in redis: 1 of 3 nodes vote, 2 needed", "is down: connection refused")
	command(t, append(args, "--page", "http://u:secret@host/debug/locks")...).Want(t, ui.ExitError, "--page:")
	giveUp()
	s.calls.Wait()
}
