package semaphore

import (
	"errors"
	"slices"

	"github.com/lockscope/lockscope/lock"
)

// waitForAny waits in the one queue that all processes share; see lock.QueuesSlots.
func (c *call) waitForAny() (*Permit, error) {
	near := c.sem.queues(1)
	defer c.sem.queues(-1)
	lease, err := c.sem.locker.Acquire(c.ctx, c.sem.slots[near], c.options(lock.LookAlone, lock.MaxAttempts(c.attempts()))...)
	if err != nil {
		return nil, c.notServed(near, err)
	}
	p := &Permit{sem: c.sem, slot: max(slices.Index(c.sem.slots, lease.Resource()), 0)}
	c.sem.hold(p)
	p.start(lease)
	return p, nil
}

// attempts is how many are left to a call that has looked at all slots before; 0 for no limit.
func (c *call) attempts() int {
	if c.opts.MaxAttempts <= 0 {
		return c.opts.MaxAttempts
	}
	return max(c.opts.MaxAttempts-c.looks, 1)
}

// queues counts the calls that wait in the queue. It returns the slot to ask for first.
func (s *Semaphore) queues(n int) (near int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued += n
	return s.near
}

// notServed is the error of a wait that ended without a permit.
func (c *call) notServed(slot int, err error) error {
	held, ok := errors.AsType[*lock.HeldError](err)
	if _, cut := errors.AsType[*lock.WaitError](err); cut || !ok {
		return c.failed(slot, err)
	}
	full := c.full
	if full == nil {
		full = &FullError{Name: c.sem.name, Slots: len(c.sem.slots), Here: c.sem.held()}
	}
	return full.with(held)
}
