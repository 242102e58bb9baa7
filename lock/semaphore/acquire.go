package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Acquire waits for a permit. opts are those of [lock.Locker].Acquire, with these differences:
//
//   - lock.MaxWait bounds the whole wait, lock.NoWait makes one attempt at each slot, and lock.MaxAttempts counts
//     looks at all slots.
//   - lock.Fair keeps the call from overtaking those that wait in the same queue.
//   - lock.FailOnDeadlock fails with lock.ErrInvalidOption if there are several slots: any of their holders can end
//     the wait, so no cycle is certain. Waits for permits are not part of deadlock detection. Use MaxWait.
//
// When ctx ends while the call waits, the call leaves the queue and holds nothing. When ctx ends later, so does the
// permit.
//
// Acquire fails with
//   - *FullError, which matches lock.ErrHeld and names the holders, if all slots are held and the call does not wait
//     (any longer);
//   - *lock.WaitError if the wait was cut short. It wraps the reason and mostly a *FullError;
//   - *SlotsError if a majority of the nodes knows another number of slots, or a holder uses another one;
//   - the other errors of lock.Locker, such as *lock.QuorumError, with the name of the slot.
func (s *Semaphore) Acquire(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	if s == nil || s.locker == nil {
		return nil, fmt.Errorf("%w: semaphore: make the Semaphore with New", lock.ErrInvalidOption)
	}
	c := &call{sem: s, ctx: ctx, given: opts, opts: lock.NewAcquireOptions(opts...), began: time.Now()}
	if c.opts.FailOnDeadlock && len(s.slots) > 1 {
		return nil, fmt.Errorf("%w: semaphore %q: FailOnDeadlock needs a semaphore with one slot: use MaxWait",
			lock.ErrInvalidOption, s.name)
	}
	released, first := s.begin()
	if first || c.opts.NoWait {
		p, err := c.tryAll(ctx, -1, c.firstLook())
		if err == nil || !c.mayWait(err) {
			return p, err
		}
	}
	if s.queue {
		return c.waitForAny()
	}
	return c.wait(released)
}

// TryAcquire is Acquire with [lock.NoWait]: it returns a *FullError if no slot is free.
func (s *Semaphore) TryAcquire(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	return s.Acquire(ctx, append(opts[:len(opts):len(opts)], lock.NoWait())...)
}

// call is one Acquire.
type call struct {
	sem   *Semaphore
	ctx   context.Context
	given []lock.AcquireOption
	opts  lock.AcquireOptions
	began time.Time

	callSite string // once it waits: another goroutine looks at slots then

	looks int        // at all slots
	full  *FullError // what the last of them found
}

// errHere means that a permit of this Semaphore has the slot, or that another call here tries it.
var errHere = errors.New("semaphore: held in this process")

// firstLook is how far the end of a first look decides the call.
func (c *call) firstLook() lock.Look {
	if c.opts.NoWait || c.opts.MaxAttempts == 1 {
		return lock.LookOn
	}
	return lock.LookWaits
}

// options are those for one slot.
func (c *call) options(look lock.Look, more ...lock.AcquireOption) []lock.AcquireOption {
	opts := append(c.given[:len(c.given):len(c.given)], lock.Permit(carried.Permit{
		Slots: len(c.sem.slots), OneQueue: c.sem.queue, Look: int(look), Since: c.began, CallSite: c.callSite,
	}))
	if c.opts.MaxWait > 0 {
		// Not 0, which would be no limit.
		left := max(c.opts.MaxWait-time.Since(c.began), time.Nanosecond)
		opts = append(opts, lock.MaxWait(left))
	}
	return append(opts, more...)
}

// try asks the nodes once for a slot. ctx becomes the parent of the permit.
func (c *call) try(ctx context.Context, slot int, look lock.Look) (*Permit, error) {
	p := &Permit{sem: c.sem, slot: slot}
	if !c.sem.take(p) {
		return nil, errHere
	}
	lease, err := c.sem.locker.Acquire(ctx, c.sem.slots[slot], c.options(look, lock.NoWait())...)
	if err != nil {
		c.sem.drop(p)
		return nil, err
	}
	p.start(lease)
	return p, nil
}

// tryAll tries all slots but one, beginning with the one that was released here last. It returns a *FullError if none is
// free. Any other error ends it early: the other slots have the same nodes.
func (c *call) tryAll(ctx context.Context, except int, look lock.Look) (*Permit, error) {
	c.looks++
	full := &FullError{Name: c.sem.name, Slots: len(c.sem.slots)}
	first, last := c.sem.looks()
	for i := range c.sem.slots {
		slot := (first + i) % len(c.sem.slots)
		if slot == except {
			full.Here += c.sem.heldAt(slot)
			continue
		}
		if slot == last && look == lock.LookOn {
			look = lock.LookAlone
		}
		p, err := c.try(ctx, slot, look)
		if err == nil {
			return p, nil
		}
		if err := full.add(err); err != nil {
			return nil, c.failed(slot, err)
		}
	}
	c.full = full
	return nil, full
}

// mayWait says whether a call whose first look failed should wait.
func (c *call) mayWait(err error) bool {
	if c.opts.NoWait || c.looks == c.opts.MaxAttempts {
		return false
	}
	reason := lock.ReasonOf(err)
	return reason == lock.ReasonHeld || reason == lock.ReasonNoQuorum
}

// failed names the slot of an error, unless the error is about the semaphore.
func (c *call) failed(slot int, err error) error {
	if _, ok := errors.AsType[*SlotsError](err); ok {
		return err
	}
	if cut, ok := errors.AsType[*lock.WaitError](err); ok {
		return c.cut(cut)
	}
	if other := otherSlotsOnNodes(c.sem.name, len(c.sem.slots), err); other != nil {
		return other
	}
	return fmt.Errorf("semaphore %q: slot %d: %w", c.sem.name, slot, err)
}

// cut is the error of a wait that was cut short while the call tried or waited for a slot.
func (c *call) cut(cut *lock.WaitError) error {
	whole := &lock.WaitError{
		Resource: c.sem.name, Attempts: max(c.looks, cut.Attempts), Waited: time.Since(c.began), Last: cut.Last, Err: cut.Err,
	}
	held, ok := errors.AsType[*lock.HeldError](cut.Last)
	switch {
	case ok && c.full == nil: // others of this process have looked
		full := &FullError{Name: c.sem.name, Slots: len(c.sem.slots), Here: c.sem.held()}
		whole.Last = full.with(held)
	case ok:
		whole.Last = c.full.with(held)
	case cut.Last == nil && c.full != nil:
		whole.Last = c.full
	}
	return whole
}
