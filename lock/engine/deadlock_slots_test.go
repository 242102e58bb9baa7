package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// ofTwo asks for either slot of a semaphore.
var ofTwo = lock.Slots(2)

// TestACycleThroughOneSlotIsNoDeadlock: the caller that has "order" waits for a slot, and the holder of one waits for
// "order". The holder of the second slot waits for nothing at first. Then it waits for "order" as well.
func TestACycleThroughOneSlotIsNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openMemory(t)
		var seen deadlocks
		ctx := seen.in(t.Context())
		order, first, second := mustAcquire(t, ctx, l, "order"), mustAcquire(t, ctx, l, "jobs", ofTwo), mustAcquire(t, ctx,
			l, "jobs", ofTwo)
		done := make(chan error, 2)
		go func() {
			_, err := l.Acquire(first.Context(), "order", lock.MaxWait(10*time.Second))
			done <- err
		}()
		go func() {
			_, err := l.Acquire(order.Context(), "jobs", ofTwo, lock.FailOnDeadlock(), lock.MaxWait(10*time.Second))
			done <- err
		}()
		time.Sleep(5 * time.Second)
		if all := seen.seen(); all != nil {
			t.Errorf("told %v while the second slot will be free", all)
		}
		_, err := l.Acquire(second.Context(), "order", lock.MaxWait(2*time.Second))
		if !errors.Is(err, lock.ErrMaxWait) {
			t.Errorf("the holder of the second slot: %v", err)
		}
		if all := seen.seen(); len(all) != 1 || len(all[0].Cycle) != 2 {
			t.Errorf("told %v, want the cycle of the second slot and the order", all)
		}
		failed := 0
		for range 2 {
			if err := <-done; errors.Is(err, lock.ErrDeadlock) {
				failed++
			} else if !errors.Is(err, lock.ErrMaxWait) {
				t.Error(err)
			}
		}
		if failed != 1 {
			t.Errorf("%d calls failed for the deadlock, want the one that asked to", failed)
		}
	})
}
