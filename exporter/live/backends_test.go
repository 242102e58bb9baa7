package live_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// onBackend is a locker in memory on a Board, on a set of nodes with that name.
func onBackend(t *testing.T, board *live.Board, nodes memlock.Nodes, backend, instance string) lock.Locker {
	t.Helper()
	engine, err := memlock.New(nodes, lock.WithInstance(instance), lock.WithBackend(backend), lock.WithCallSites())
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return wrap(t, board, engine, live.WithLockerInstance(instance))
}

// TestOneNameOnTwoBackends: a service that moves between systems takes each lock on both. A call that holds the lock on
// the first and waits for it on the second waits for the holder there, and not for itself.
func TestOneNameOnTwoBackends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithInstance("orders/1"))
		old, next := memlock.NewNodes(3), memlock.NewNodes(3)
		first, second := onBackend(t, board, old, "redis", "orders/1"),
			onBackend(t, board, next, "postgres", "orders/1")
		elsewhere := onBackend(t, newBoard(t), next, "postgres", "billing/2")
		theirs := acquire(t, elsewhere, "order:1")
		outer := acquire(t, first, "order:1")
		inner := acquireAsync(outer.Context(), second, "order:1")
		behind := acquireAsync(t.Context(), first, "order:1")
		settle(2 * time.Second)
		stateOf(board)
		settle(time.Second)
		s := stateOf(board)
		if len(s.Deadlocks) != 0 || len(s.Blocked) != 2 {
			t.Fatalf("deadlocks %+v, blocked %+v", s.Deadlocks, s.Blocked)
		}
		holders := map[string]string{"redis": "orders/1", "postgres": "billing/2"}
		for _, b := range s.Blocked {
			if b.Resource != "order:1" || b.Waiting != 1 || b.Deadlock || b.Holder == nil ||
				b.Holder.Holder != holders[b.Backend] {
				t.Errorf("blocked %+v, held by %+v", b, b.Holder)
			}
			if b.Backend == "redis" && (len(b.Chain) != 1 || b.Chain[0].Backend != "postgres" ||
				b.Chain[0].Holder.Holder != "billing/2") {
				t.Errorf("chain of %+v: %+v", b, b.Chain)
			}
		}
		for _, w := range s.Waiting {
			if w.Blocker == nil || w.Blocker.Holder != holders[w.Backend] || w.Backend == "postgres" &&
				!slices.Equal(w.Holds, []string{"order:1 (redis)"}) {
				t.Errorf("waits %+v for %+v", w, w.Blocker)
			}
		}
		if len(s.Held) != 1 || s.Held[0].Backend != "redis" || s.Held[0].Waiters != 1 {
			t.Errorf("held %+v", s.Held)
		}
		if len(s.Inflicted) != 2 {
			t.Errorf("inflicted %+v", s.Inflicted)
		}
		for _, i := range s.Inflicted {
			if i.Holder != holders[i.Backend] || i.Resource != "order:1" || i.Waits != 1 || i.Seconds < 2 || i.Seconds > 3 {
				t.Errorf("inflicted %+v", i)
			}
		}
		if len(s.Nodes) != 6 { // nodes of both have the same names
			t.Errorf("nodes %+v", s.Nodes)
		}
		must(t, theirs.Release(t.Context()))
		must(t, (<-inner).lease.Release(t.Context()))
		must(t, outer.Release(t.Context()))
		must(t, (<-behind).lease.Release(t.Context()))
		for _, h := range stateOf(board).History {
			if len(h.Holds) == 0 || h.Holds[len(h.Holds)-1].Holder != holders[h.Backend] {
				t.Errorf("history %+v", h)
			}
		}
		for _, a := range stateOf(board).Slowest {
			if holders[a.Backend] == "" {
				t.Errorf("slowest %+v", a)
			}
		}
	})
}

// TestDeadlockAcrossTwoSystems: a lock on Redis and one on another system, taken in opposite orders. Neither knows the
// other.
func TestDeadlockAcrossTwoSystems(t *testing.T) {
	told := make(chan lock.DeadlockError, 4)
	board := newBoard(t, live.WithInstance("orders/1"))
	orders, err := redlock.Open([]string{"redis://" + locktest.Servers(t, 1)[0].Addr()},
		lock.WithInstance("orders/1"), lock.WithNodeTimeout(nodeTimeout), lock.WithCallSites())
	must(t, err)
	t.Cleanup(func() { must(t, orders.Close()) })
	onRedis, other := wrap(t, board, orders), onBackend(t, board, memlock.NewNodes(1), "memory", "orders/1")

	ctx, cancel := context.WithCancel(locktrace.With(t.Context(),
		&locktrace.Trace{Deadlock: func(_ context.Context, d lock.DeadlockError) { told <- d }}))
	defer cancel()
	var working, holding sync.WaitGroup
	holding.Add(2)
	holdBoth(ctx, t, &working, onRedis, other, func() {
		holding.Done()
		holding.Wait()
	})
	var s state.State
	eventually(t, "the cycle is on the Board", func() bool {
		s = stateOf(board)
		return len(s.Deadlocks) == 1 && len(s.Deadlocks[0].Cycle) == 2 && len(s.Blocked) == 2
	})
	on := map[string]string{"order": "redis", "stock": "memory"}
	for _, link := range s.Deadlocks[0].Cycle {
		if link.Backend != on[link.Resource] || link.CallSite == "" || link.Holder == nil ||
			link.Holder.Holder != "orders/1" {
			t.Errorf("link %+v, held by %+v", link, link.Holder)
		}
	}
	for _, b := range s.Blocked {
		if !b.Deadlock || b.Backend != on[b.Resource] {
			t.Errorf("blocked %+v", b)
		}
	}
	if d := <-told; len(d.Cycle) != 2 {
		t.Errorf("the engines tell of %v", d)
	}
	cancel()
	working.Wait()
	eventually(t, "it is over when both give up", func() bool {
		s = stateOf(board)
		return len(s.Deadlocks) == 1 && s.Deadlocks[0].Over && len(s.Blocked) == 0
	})
}
