package semaphore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/callsite"
)

// found is what the looks of a waiting call came to.
type found struct {
	permit *Permit
	err    error
}

// with is the error, with the holder that the queue named.
func (f found) with(queue error) error {
	full, ok := errors.AsType[*FullError](f.err)
	held, named := errors.AsType[*lock.HeldError](queue)
	if ok && named {
		return full.with(held)
	}
	return f.err
}

// wait waits in the queue of one slot and looks at the others meanwhile. The wait runs in the caller's goroutine, so that
// profiles and call sites show who waits.
func (c *call) wait(released int) (*Permit, error) {
	w, slot := c.sem.enter(released)
	waiting, stopWaiting := context.WithCancelCause(c.ctx)
	looking, stopLooking := context.WithCancelCause(c.ctx)
	c.callSite = callsite.Nearest()
	looked := make(chan found, 1)
	go func() {
		looked <- c.look(looking, w, slot, stopWaiting)
		close(looked)
	}()
	p, err := c.queue(waiting, slot)
	if err == nil {
		if c.sem.finish(w) {
			stopLooking(lock.ErrOtherSlot)
			p.looks = looked
			context.AfterFunc(p.Context(), func() { stopWaiting(nil) })
			return p, nil
		}
		p.abandon() // the looks have one, too
	}
	if err != nil && c.sem.finish(w) {
		stopLooking(err)
		<-looked // it leaves nothing behind
		stopWaiting(nil)
		return nil, c.failed(slot, err)
	}
	f := <-looked
	stopWaiting(nil)
	if f.err != nil {
		stopLooking(nil)
		return nil, f.with(err)
	}
	context.AfterFunc(f.permit.Context(), func() { stopLooking(nil) })
	return f.permit, nil
}

// queue waits in the queue of a slot.
func (c *call) queue(ctx context.Context, slot int) (*Permit, error) {
	lease, err := c.sem.locker.Acquire(ctx, c.sem.slots[slot], c.options(lock.LookAlone)...)
	if err != nil {
		return nil, err
	}
	p := &Permit{sem: c.sem, slot: slot}
	c.sem.hold(p)
	p.start(lease)
	return p, nil
}

// look tries the slots that are offered to w, and all but one from time to time while w is the first in line. It
// returns when the call is over or ctx ends, and ends the wait if it ends the call.
func (c *call) look(ctx context.Context, w *waiter, except int, stopWaiting context.CancelCauseFunc) found {
	front, due := w.front, (<-chan time.Time)(nil)
	for {
		var f found
		select {
		case <-ctx.Done():
			return found{}
		case <-front:
			front, due = nil, time.After(c.sem.untilLook())
			continue
		case slot := <-w.offers:
			f.permit, f.err = c.try(ctx, slot, lock.LookBeside)
			if f.err != nil {
				c.sem.offerAgain(w, slot, nobodyGets(f.err))
				f.err = (&FullError{Name: c.sem.name, Slots: len(c.sem.slots)}).add(f.err)
			}
		case <-due:
			f.permit, f.err = c.tryAll(ctx, except, lock.LookBeside)
			due = time.After(c.sem.untilLook())
		}
		if c.goesOn(f) {
			continue
		}
		if !c.sem.finish(w) {
			if f.permit != nil {
				f.permit.abandon()
			}
			return found{}
		}
		stopWaiting(cmp.Or(f.err, lock.ErrOtherSlot))
		return f
	}
}

// nobodyGets says whether a slot that a call tried is of no use to the other calls either: another process has it, or
// too few nodes answer. Nodes that refuse connections fail at once, and would be asked again without a pause. The looks
// find the slot later.
func nobodyGets(err error) bool {
	return errors.Is(err, lock.ErrHeld) || lock.ReasonOf(err) == lock.ReasonNoQuorum
}

// goesOn says whether a call goes on waiting after a look. Whether the nodes can be asked, the wait in the queue decides.
func (c *call) goesOn(f found) bool {
	if f.permit != nil {
		return false
	}
	if _, ok := errors.AsType[*SlotsError](f.err); ok {
		return false
	}
	_, full := errors.AsType[*FullError](f.err)
	return !full || c.looks != c.opts.MaxAttempts
}
