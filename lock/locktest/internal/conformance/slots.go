package conformance

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func (c *subtest) noSlots() {
	if r, ok := c.locker().(resizer); ok {
		c.wantErr("Resize", r.Resize(c.context(), c.resource, 1, 2), errors.ErrUnsupported)
	}
}

type resizer interface {
	Resize(ctx context.Context, name string, from, to int) error
}

// resizer waits only for the TTL of the suite, since no permit lives longer.
func (c *subtest) resizer() resizer {
	c.Helper()
	r, ok := c.locker(lock.WithMaxTTL(c.TTL)).(resizer)
	if !ok {
		c.Fatal("this Locker cannot Resize")
	}
	return r
}

// nodesKnowSlots although nobody holds a slot, and follow a change.
func (c *subtest) nodesKnowSlots() {
	operator := c.resizer()
	one, three := c.semaphore(c.locker(), 1), c.semaphore(c.locker(), 3)
	c.giveBack(c.permit(one))
	c.wantOtherSlots(three, 1)
	held := c.permit(one)
	if err := operator.Resize(c.context(), c.resource, 1, 3); err != nil {
		c.Fatal(err)
	}
	c.wantOtherSlots(c.semaphore(c.locker(), 1), 3)
	if _, err := three.TryAcquire(c.context(), lock.TTL(c.TTL)); err != nil {
		c.Errorf("beside a permit of before: %v", err)
	}
	if err := held.Extend(c.context()); err != nil {
		c.Errorf("a permit does not outlast the change: %v", err)
	}
	c.giveBack(c.permit(three))
	c.giveBack(held)
	err := operator.Resize(c.context(), c.resource, 1, 2)
	if e, ok := errors.AsType[*engine.ResizeError](err); !ok || len(e.Nodes) == 0 || e.Nodes[0].Slots != 3 {
		c.Errorf("from a number that the nodes do not know: %v", err)
	}
}

// wantOtherSlots checks that the semaphore gets no permit, whether its calls wait or not.
func (c *subtest) wantOtherSlots(s *semaphore.Semaphore, known int) {
	c.Helper()
	for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(patience)} {
		_, err := s.Acquire(c.context(), lock.TTL(c.TTL), opt)
		if e, ok := errors.AsType[*lock.SlotsError](err); !ok || e.Other != known {
			c.Errorf("%v; an error about %d slots expected", err, known)
		}
	}
}

// fewerSlots end every permit of a slot that is gone, although its holder renews it, and no other permit. Calls with the
// old number learn of it.
func (c *subtest) fewerSlots() {
	operator := c.resizer()
	three := c.semaphore(c.locker(), 3)
	permits := []*semaphore.Permit{c.permit(three), c.permit(three), c.permit(three)}
	if err := operator.Resize(c.context(), c.resource, 3, 1); err != nil {
		c.Fatal(err)
	}
	for _, p := range permits {
		if valid := p.Remaining() > 0; valid != (p.Slot() == 0) {
			c.Errorf("the permit of slot %d is valid: %v", p.Slot(), valid)
		}
		if cause := context.Cause(p.Context()); p.Slot() > 0 && !errors.Is(cause, lock.ErrLost) {
			c.Errorf("the permit of slot %d ended with %v", p.Slot(), cause)
		}
	}
	c.wantOtherSlots(three, 1)
	_, err := c.semaphore(c.locker(), 1).TryAcquire(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryAcquire of the slot that is left", err, lock.ErrHeld)
	for _, p := range permits {
		_ = p.Release(c.context()) // those that are lost say so
	}
	c.giveBack(c.permit(c.semaphore(c.locker(), 1)))
}
