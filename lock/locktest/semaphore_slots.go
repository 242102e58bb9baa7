package locktest

import (
	"context"
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// WithSlots makes [TestSemaphore] fail if the nodes do not know the number of slots of a semaphore, or cannot change it.
// Without this option it skips its tests of that then.
func WithSlots() ConformanceOption { return func(s *suite) { s.slots = true } }

// resizer makes a Locker that can change the number of slots, or skips the subtest.
func (c *conformance) resizer() semaphore.Resizer {
	c.Helper()
	r, ok := c.locker().(semaphore.Resizer)
	if ok {
		err := semaphore.Resize(c.context(), r, c.resource+" unused", 1, 2)
		if ok = !errors.Is(err, errors.ErrUnsupported); ok && err != nil {
			c.Fatal(err)
		}
	}
	if !ok && c.suite.slots {
		c.Fatal("the nodes of this Locker do not know the number of slots")
	}
	if !ok {
		c.Skip("the nodes do not know the number of slots")
	}
	return r
}

// nodesKnowSlots although nobody holds a slot, and follow a change.
func (c *conformance) nodesKnowSlots() {
	nodes := c.resizer()
	one, three := c.semaphore(c.locker(), 1), c.semaphore(c.locker(), 3)
	c.giveBack(c.permit(one))
	c.wantOtherSlots(three, 1)
	held := c.permit(one)
	if err := semaphore.Resize(c.context(), nodes, c.resource, 1, 3); err != nil {
		c.Fatal(err)
	}
	c.wantOtherSlots(c.semaphore(c.locker(), 1), 3)
	if _, err := three.TryAcquire(c.context(), lock.TTL(c.suite.ttl)); err != nil {
		c.Errorf("beside a permit of before: %v", err)
	}
	if err := held.Extend(c.context()); err != nil {
		c.Errorf("a permit does not outlast the change: %v", err)
	}
	c.giveBack(c.permit(three))
	c.giveBack(held)
	err := semaphore.Resize(c.context(), nodes, c.resource, 1, 2)
	if e, ok := errors.AsType[*semaphore.ResizeError](err); !ok || len(e.Nodes) == 0 || e.Nodes[0].Slots != 3 {
		c.Errorf("from a number that the nodes do not know: %v", err)
	}
}

// wantOtherSlots checks that the semaphore gets no permit, whether its calls wait or not.
func (c *conformance) wantOtherSlots(s *semaphore.Semaphore, known int) {
	c.Helper()
	for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(patience)} {
		_, err := s.Acquire(c.context(), lock.TTL(c.suite.ttl), opt)
		if e, ok := errors.AsType[*lock.SlotsError](err); !ok || e.Other != known {
			c.Errorf("%v; an error about %d slots expected", err, known)
		}
	}
}

// TestResize checks that [semaphore.Resize] to fewer slots ends every permit of a slot that is gone, although its
// holder renews it, and no other permit; and that calls with the old number learn of it. Resize waits for the
// lock.WithMaxTTL of the Lockers, which has to be the TTL of the suite.
func TestResize(t *testing.T, newLocker func(t testing.TB) lock.Locker, opts ...ConformanceOption) {
	s := newSuite(newLocker, append(opts, WithSlots()))
	s.run(t, "fewer slots", (*conformance).fewerSlots)
}

func (c *conformance) fewerSlots() {
	operator := c.resizer()
	three := c.semaphore(c.locker(), 3)
	permits := []*semaphore.Permit{c.permit(three), c.permit(three), c.permit(three)}
	if err := semaphore.Resize(c.context(), operator, c.resource, 3, 1); err != nil {
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
	_, err := c.semaphore(c.locker(), 1).TryAcquire(c.context(), lock.TTL(c.suite.ttl))
	c.wantErr("TryAcquire of the slot that is left", err, lock.ErrHeld)
	for _, p := range permits {
		_ = p.Release(c.context()) // those that are lost say so
	}
	c.giveBack(c.permit(c.semaphore(c.locker(), 1)))
}
