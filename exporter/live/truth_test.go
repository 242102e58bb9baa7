package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestBlockersAreTrue reads a Board again and again while several lockers, some with one name and others with their
// own, contend for a few resources. A call that waits for a lease on the same page names it.
func TestBlockersAreTrue(t *testing.T) {
	nodes := memlock.NewNodes(3)
	board := newBoard(t, live.WithInstance("orders/1"))
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	for _, instance := range []string{"orders/1", "orders/1", "orders/1", "billing/2", "stock/3"} {
		engine, err := memlock.New(nodes, lock.WithInstance(instance))
		must(t, err)
		t.Cleanup(func() { must(t, engine.Close()) })
		l := wrap(t, board, engine, live.WithLockerInstance(instance))
		for range 4 {
			working.Go(func() { contend(ctx, l) })
		}
	}
	waiters, wrong, examples := 0, 0, ""
	for range 300 {
		s := stateOf(board)
		holders := make(map[string]state.Held)
		for _, h := range s.Held {
			holders[h.Resource] = h
		}
		for _, w := range s.Waiting {
			h, here := holders[w.Resource]
			begun := w.Attempts > 0 || w.Kind != "attempt" // a call that has not asked yet waits for nobody
			if !here || !begun || w.Kind == string(locktrace.WaitBackingOff) {
				continue
			}
			waiters++
			if w.Blocker == nil || w.Blocker.Holder != h.Holder || w.Blocker.HandedOver {
				if wrong++; wrong <= 5 {
					examples += fmt.Sprintf("\n%+v, blocked by %+v, while %s holds it", w, w.Blocker, h.Holder)
				}
			}
		}
		settleReal(2 * time.Millisecond)
	}
	if waiters < 300 {
		t.Fatalf("%d waiters for a lease of the same page in 300 looks: nothing was tried", waiters)
	}
	if wrong > 0 {
		t.Errorf("%d of %d waiters name somebody else than who holds the lock:%s", wrong, waiters, examples)
	}
}

// settleReal lets the lockers of other goroutines proceed.
func settleReal(d time.Duration) { <-time.After(d) }

// contend takes one of a few resources for some milliseconds, until ctx ends.
func contend(ctx context.Context, l lock.Locker) {
	for ctx.Err() == nil {
		_ = lock.Do(ctx, l, fmt.Sprintf("order:%d", rand.IntN(3)), func(context.Context, lock.Lease) error {
			settleReal(time.Duration(1+rand.IntN(15)) * time.Millisecond)
			return nil
		})
	}
}
