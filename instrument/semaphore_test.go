package instrument_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestAnotherSlotIsNoFailure: a call of a semaphore that waits for one slot and gets another has not failed, whichever
// slot it waits for.
func TestAnotherSlotIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		newLocker := func() *memlock.Locker {
			l, err := memlock.New(nodes)
			must(t, err)
			t.Cleanup(func() { must(t, l.Close()) })
			return l
		}
		l := wrap(t, newLocker())
		a, err := semaphore.New(newLocker(), "pool", 2)
		must(t, err)
		b, err := semaphore.New(l, "pool", 2)
		must(t, err)
		var held []*semaphore.Permit
		for range 2 {
			p, err := a.Acquire(t.Context())
			must(t, err)
			held = append(held, p)
		}
		for _, p := range held { // one of them is not the slot that b waits for
			got := make(chan error)
			go func() { got <- b.Do(t.Context(), func(context.Context, *semaphore.Permit) error { return nil }) }()
			time.Sleep(time.Second)
			must(t, p.Release(t.Context()))
			must(t, <-got)
			_, err := a.Acquire(t.Context(), lock.NoWait())
			must(t, err)
		}
		var failures float64
		for _, resource := range []string{"pool#*", "pool#0", "pool#1"} {
			failures += gather(t, l, "failures_total", "resource", resource)
		}
		if failures != 0 {
			t.Errorf("%v failures", failures)
		}
	})
}

// TestLooksAtSlotsAreNoWaits: what a caller of a semaphore of three slots waited is one wait, not one for each slot that
// it found held.
func TestLooksAtSlotsAreNoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		other, _ := onNodes(t, nodes, "a")
		l, _ := onNodes(t, nodes, "b")
		a, err := semaphore.New(other, "pool", 3)
		must(t, err)
		b, err := semaphore.New(l, "pool", 3)
		must(t, err)
		var held []*semaphore.Permit
		for range 3 {
			p, err := a.Acquire(t.Context())
			must(t, err)
			held = append(held, p)
		}
		waits := func() (count uint64, seconds float64) {
			h := find(t, l, "wait_seconds", "resource", "pool").GetHistogram()
			return h.GetSampleCount(), h.GetSampleSum()
		}
		if _, err := b.TryAcquire(t.Context()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("%v, want that it is held", err)
		}
		if n, _ := waits(); n != 0 {
			t.Errorf("%d waits of a call that did not wait", n)
		}
		if n := gather(t, l, "acquisitions_total", "resource", "pool", "outcome", "contended"); n != 3 {
			t.Errorf("%v looks, want 3", n)
		}
		got := make(chan error)
		go func() { got <- b.Do(t.Context(), func(context.Context, *semaphore.Permit) error { return nil }) }()
		time.Sleep(10 * time.Second)
		must(t, held[2].Release(t.Context()))
		must(t, <-got)
		if n, seconds := waits(); n < 1 || n > 2 || seconds < 9.9 || seconds > 10.5 {
			t.Errorf("%d waits of %.1f s, want one of 10 s and at most one look", n, seconds)
		}
		if n := gather(t, l, "failures_total", "resource", "pool"); n != 0 {
			t.Errorf("%v failures", n)
		}
	})
}
