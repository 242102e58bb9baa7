package conformance

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// servedInOrder lets processes wait one after the other. Whichever slot is released, the one that came first gets it.
func (c *subtest) servedInOrder() {
	const k, waiters = 2, 4
	s := c.semaphore(c.locker(), k)
	held := []*semaphore.Permit{c.permit(s), c.permit(s)}
	type permit struct {
		*semaphore.Permit
		call int
	}
	got := make(chan permit, waiters)
	for i := range waiters {
		time.Sleep(time.Millisecond) // in fake time: who came at the same instant has no order
		s, queued := c.semaphore(c.locker(), k), make(chan struct{}, 1)
		ctx := locktrace.With(c.context(), &locktrace.Trace{WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
			if e.Kind == locktrace.WaitHolder && e.Ahead == i {
				select {
				case queued <- struct{}{}:
				default:
				}
			}
			return ctx
		}})
		go func() {
			p, err := s.Acquire(ctx, lock.TTL(c.TTL))
			if err != nil {
				c.Errorf("waiter %d: %v", i, err)
			}
			got <- permit{p, i}
		}()
		select {
		case <-queued:
		case <-c.context().Done():
			c.Fatalf("waiter %d does not queue behind the others", i)
		}
	}
	for i := range waiters {
		at := (i + 1) % k
		slot := held[at].Slot()
		c.giveBack(held[at])
		next := <-got
		if next.Permit == nil {
			return
		}
		if next.call != i || next.Slot() != slot {
			c.Errorf("slot %d was released, and waiter %d has slot %d as number %d", slot, next.call, next.Slot(), i)
		}
		held[at] = next.Permit
	}
	for _, p := range held {
		c.giveBack(p)
	}
}
