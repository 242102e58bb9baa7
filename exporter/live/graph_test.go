package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// newMemory is a locker in memory on a Board, with call sites.
func newMemory(t *testing.T, board *live.Board, nodes memlock.Nodes, instance string) lock.Locker {
	t.Helper()
	engine, err := memlock.New(nodes, lock.WithInstance(instance), lock.WithCallSites(),
		lock.WithPage("http://10.0.0.7:9090/debug/locks"))
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return wrap(t, board, engine, live.WithLockerInstance(instance))
}

// TestChain: callers wait for a lease whose holder waits for a lease of another process.
func TestChain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t, live.WithInstance("orders/1"))
		here, there := newMemory(t, board, nodes, "orders/1"), newMemory(t, newBoard(t), nodes, "billing/2")
		stock, err := there.Acquire(locktrace.WithTraceparent(t.Context(), traceparent1), "stock")
		must(t, err)
		order, err := here.Acquire(inTrace(t.Context(), 2), "order")
		must(t, err)
		ctx, cancel := context.WithCancel(order.Context())
		inner := acquireAsync(inTrace(ctx, 3), here, "stock")
		settle(2 * time.Second)
		first, second := acquireAsync(ctx, here, "audit"), acquireAsync(t.Context(), here, "order")
		settle(time.Second)
		s := stateOf(board)
		if len(s.Blocked) != 2 || s.Totals.Waiting != 2 || len(s.Deadlocks) != 0 {
			t.Fatalf("blocked %+v, deadlocks %+v", s.Blocked, s.Deadlocks)
		}
		row := s.Blocked[1]
		if row.Resource != "order" || row.Waiting != 1 || row.Deadlock || len(row.Chain) != 1 || row.Holder == nil ||
			row.Holder.Holder != "orders/1" || row.Holder.CallSite == "" || !row.Holder.Here ||
			row.Holder.TraceID[31] != '2' {
			t.Fatalf("row %+v, holder %+v", row, row.Holder)
		}
		link := row.Chain[0]
		if link.Resource != "stock" || !near(link.For, 3) || link.CallSite == "" || link.TraceID[31] != '3' ||
			link.Holder == nil ||
			link.Holder.Holder != "billing/2" || link.Holder.CallSite == "" ||
			link.Holder.Page != "http://10.0.0.7:9090/debug/locks" || link.Holder.TraceID[31] != '1' {
			t.Errorf("link %+v, held by %+v", link, link.Holder)
		}
		if w := s.Waiting[0]; w.Resource != "stock" || len(w.Holds) != 1 || w.Holds[0] != "order" || w.CallSite == "" {
			t.Errorf("waiter %+v", w)
		}
		cancel()
		<-inner
		got := <-first
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		must(t, order.Release(t.Context()))
		got = <-second
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		must(t, stock.Release(t.Context()))
		h := stateOf(board).History
		if len(h) != 2 || h[0].Holds[0].CallSite == "" {
			t.Fatalf("history %+v", h)
		}
		for _, of := range h {
			holder := map[string]string{"order": "orders/1", "stock": "billing/2"}[of.Resource]
			first := of.Holds[len(of.Holds)-1]
			if first.Holder != holder || first.Elsewhere != (of.Resource == "stock") || first.Took < 2 ||
				first.Took > 3.05 { // elsewhere: as long as told
				t.Errorf("history of %s: %+v", of.Resource, of.Holds)
			}
		}
		settle(state.HistoryFor)
		if h := stateOf(board).History; len(h) != 0 {
			t.Errorf("ten minutes later: %+v", h)
		}
	})
}

// TestHolderBesideTheWaiter: of two lockers of one Board, one waits for the lease of the other, which is not its own.
func TestHolderBesideTheWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes, board := memlock.NewNodes(3), newBoard(t)
		orders, billing := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "billing/2")
		lease, err := orders.Acquire(t.Context(), "order")
		must(t, err)
		waiting := acquireAsync(t.Context(), billing, "order")
		settle(time.Second)
		s := stateOf(board)
		if w := s.Waiting[0]; w.Blocker == nil || w.Blocker.Holder != "orders/1" || w.Blocker.Here {
			t.Errorf("%s waits for %+v", w.Instance, w.Blocker)
		}
		must(t, lease.Release(t.Context()))
		got := <-waiting
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
	})
}

// TestDeadlocks: one engine reports a cycle at once, and the Board finds a cycle between two engines when it looks
// twice. Both end when one caller gives up.
func TestDeadlocks(t *testing.T) {
	for name, lockers := range map[string]func(t *testing.T, b *live.Board) (first, second lock.Locker){
		"one engine": func(t *testing.T, b *live.Board) (lock.Locker, lock.Locker) {
			l := newMemory(t, b, memlock.NewNodes(1), "orders/1")
			return l, l
		},
		"two engines": func(t *testing.T, b *live.Board) (lock.Locker, lock.Locker) {
			return newMemory(t, b, memlock.NewNodes(1), "orders/1"), newMemory(t, b, memlock.NewNodes(1), "stock/1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				board := newBoard(t, live.WithInstance("orders/1"))
				first, second := lockers(t, board)
				ctx, cancel := context.WithCancel(t.Context())
				var working sync.WaitGroup
				holdBoth(ctx, t, &working, first, second, func() { time.Sleep(10 * time.Millisecond) })
				settle(500 * time.Millisecond)
				behind := acquireAsync(ctx, first, "order")
				settle(500 * time.Millisecond)
				stateOf(board)
				settle(time.Second)
				s := stateOf(board)
				if len(s.Deadlocks) != 1 || s.Deadlocks[0].Over || len(s.Deadlocks[0].Cycle) != 2 {
					t.Fatalf("deadlocks %+v", s.Deadlocks)
				}
				cycle := slices.SortedFunc(slices.Values(s.Deadlocks[0].Cycle),
					func(a, b state.Link) int { // a cycle may begin anywhere
						return strings.Compare(a.Resource, b.Resource)
					})
				for i, want := range []string{"order", "stock"} {
					link := cycle[i]
					if link.Resource != want || !near(link.For, 1.99) || link.CallSite == "" || link.Holder == nil ||
						link.Holder.CallSite == "" {
						t.Errorf("link %d is %+v, held by %+v", i, link, link.Holder)
					}
				}
				if len(s.Blocked) != 2 || !s.Blocked[0].Deadlock || !s.Blocked[1].Deadlock ||
					s.Blocked[0].Resource != "order" || s.Blocked[0].Waiting != 2 {
					t.Errorf("blocked %+v", s.Blocked)
				}
				cancel()
				working.Wait()
				<-behind
				settle(time.Minute)
				s = stateOf(board)
				if len(s.Deadlocks) != 1 || !s.Deadlocks[0].Over || s.Deadlocks[0].Found < 60 || len(s.Blocked) != 0 {
					t.Errorf("when all have given up: %+v", s.Deadlocks)
				}
				settle(10 * time.Minute)
				if s = stateOf(board); len(s.Deadlocks) != 0 {
					t.Errorf("much later: %+v", s.Deadlocks)
				}
			})
		})
	}
}

// holdBoth makes two calls each hold what the other wants: an order of the first Locker, and stock of the second. Each
// calls meet when it holds one.
func holdBoth(ctx context.Context, t *testing.T, working *sync.WaitGroup, first, second lock.Locker, meet func()) {
	cross := func(outer lock.Locker, one string, inner lock.Locker, other string) {
		working.Go(func() {
			err := lock.Do(ctx, outer, one, func(ctx context.Context, _ lock.Lease) error {
				meet()
				_, err := inner.Acquire(ctx, other)
				return err
			})
			if err != nil &&
				!errors.Is(err, context.Canceled) { // nil: the other one's release came in the same instant
				t.Errorf("it ended with %v", err)
			}
		})
	}
	cross(first, "order", second, "stock")
	cross(second, "stock", first, "order")
}

// TestHistoryIsBounded contends for more resources than the Board remembers, and for one of them more often.
func TestHistoryIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l := newMemory(t, board, memlock.NewNodes(1), "orders/1")
		pass := func(resource string) {
			holder := acquire(t, l, resource)
			next := acquireAsync(t.Context(), l, resource)
			settle(20 * time.Millisecond)
			must(t, holder.Release(t.Context()))
			got := <-next
			must(t, got.err)
			must(t, got.lease.Release(t.Context()))
		}
		for i := range 400 {
			pass(resourceName(i))
		}
		for range 60 {
			pass("hot")
		}
		h := stateOf(board).History
		if len(h) == 0 || len(h) > 100 || h[0].Resource != "hot" || len(h[0].Holds) != 50 {
			t.Fatalf("%d histories", len(h))
		}
		if first := h[0].Holds[0]; first.Holder != "orders/1" || first.Elsewhere || first.Ended > .03 {
			t.Errorf("the latest holder is %+v", first)
		}
	})
}
