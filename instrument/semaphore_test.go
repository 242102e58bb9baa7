package instrument_test

import (
	"context"
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
