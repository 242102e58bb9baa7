package browser

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// contendedLock has three processes contend for a resource on real servers: one lease is lost, and one node hangs for
// longer than the node timeout. At the end one caller holds the lock and another one waits. Two of the processes are on
// the Board.
func contendedLock(t *testing.T, resource string) *live.Board {
	t.Helper()
	servers := locktest.Servers(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	board, err := live.New(live.WithInstance("orders/1"))
	must(t, err)
	open := func(instance string, shown bool) lock.Locker {
		l, err := redlock.Open(urls, lock.WithInstance(instance), redlock.WithRestartQuarantine(0), lock.WithCallSites(),
			lock.WithNodeTimeout(200*time.Millisecond), lock.WithNodeNames("a", "b", "c"))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		if !shown {
			return l
		}
		wrapped, err := board.Wrap(l, live.WithLockerInstance(instance))
		must(t, err)
		return wrapped
	}
	orders, stock, billing := open("orders/1", true), open("stock/2", true), open("billing/7", false)
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	t.Cleanup(func() { cancel(); callers.Wait() })

	warm(t, orders, stock, billing)
	first, err := billing.Acquire(ctx, resource)
	must(t, err)
	work := func(l lock.Locker, took time.Duration, opts ...lock.AcquireOption) {
		callers.Go(func() {
			lease, err := l.Acquire(ctx, resource, opts...)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			select {
			case <-time.After(took):
			case <-ctx.Done():
			}
			_ = lease.Release(context.WithoutCancel(ctx))
		})
		waitsFor(t, board) // so that they come one after the other
	}
	for _, l := range []lock.Locker{orders, stock, orders, stock} {
		work(l, 120*time.Millisecond)
	}
	must(t, first.Release(ctx))
	callers.Wait()
	work(orders, 1100*time.Millisecond, lock.TTL(time.Second), lock.NoRenew()) // lost
	work(stock, 200*time.Millisecond)
	work(orders, 200*time.Millisecond)
	must(t, servers[2].Pause())
	callers.Wait()
	must(t, servers[2].Resume())
	work(stock, time.Hour, lock.TTL(1200*time.Millisecond))
	work(orders, time.Hour)
	time.Sleep(time.Second) // of renewals, which the picture shows
	return board
}

// warm opens all connections, so that the trace does not begin with slow ones.
func warm(t *testing.T, all ...lock.Locker) {
	t.Helper()
	lease, err := all[0].Acquire(t.Context(), "other")
	must(t, err)
	for _, l := range all {
		if _, err := l.Acquire(t.Context(), "other", lock.MaxWait(50*time.Millisecond)); err == nil {
			t.Fatal("two holders")
		}
	}
	must(t, lease.Release(t.Context()))
}

// waitsFor lets a call that has just begun come to its wait, or get the lock.
func waitsFor(t *testing.T, board *live.Board) {
	t.Helper()
	eventually(t, "the call waits or holds", func() bool {
		s := board.State(t.Context())
		return s.Totals.Attempting == 0
	})
	time.Sleep(20 * time.Millisecond)
}
