package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// A call that waits for a permit takes any slot of its semaphore. All processes queue at the gate of the semaphore, in
// one queue: see driver.SlotQueuer. A release keeps its slot for the first in that queue, and names it with the slot,
// which the waiter then asks all nodes for. The gate also names waiters for slots that became free without a release,
// each time that it refuses one of them.

// QueuesSlots implements the method that lock.QueuesSlots looks for. It fails unless all nodes have such queues.
func (e *Engine) QueuesSlots() error {
	for _, n := range e.Nodes {
		q, ok := n.Node.(driver.SlotQueuer)
		if !ok {
			return fmt.Errorf("%s: %w", n.Name(), errNoSlotQueue)
		}
		if err := q.QueuesSlots(); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	return nil
}

// errNoSlotQueue is the answer of a node that is no driver.SlotQueuer.
var errNoSlotQueue = fmt.Errorf("%w: this driver has no queue for all slots of a semaphore", errors.ErrUnsupported)

// anySlot is what a call that takes any slot knows of its semaphore.
type anySlot struct {
	of     driver.Semaphore // its Slot is the one to ask for next
	home   string           // the resource that was asked for
	slots  map[int]*queue.Queue
	offers int  // of the gate, one after another
	looks  int  // attempts that followed neither a name nor an offer
	places int  // in the queue that the call may have had
	named  bool // the last attempt followed a name or an offer
	left   bool // the turn of the line is passed on, or will be
}

// joinLine finds the queue on the nodes, and makes the call take any slot of a semaphore if it waits.
func (c *caller) joinLine() {
	c.line = c.key
	of := c.semaphore()
	if of == nil || !of.OneQueue {
		return
	}
	if c.line = of.QueueKey(); c.Opts.NoWait {
		return
	}
	of.Any = true
	c.any = &anySlot{of: *of, home: c.Resource, slots: make(map[int]*queue.Queue)}
	c.key = c.line
	c.engine.semaphores.remember(of)
}

// slotQueue has the calls about a slot. Its user is the call.
func (c *caller) slotQueue(slot int) *queue.Queue {
	q, ok := c.any.slots[slot]
	if !ok {
		q = c.engine.queues.Enter(c.any.of.SlotKey(slot))
		c.any.slots[slot] = q
	}
	return q
}

// waitsOn is the call's place in the graph of waits. A call that takes any of several slots waits for all of them: see
// waitsForSlots.
func (c *caller) waitsOn() *deadlock.Resource {
	if c.any != nil {
		return &c.slotQueue(c.any.of.Slot).Graph
	}
	return &c.Queue.Graph
}

// enterLine is enterAndAcquire for a call that takes any slot.
func (a *acquisition) enterLine(ctx context.Context) (l *lease.Lease, late bool, err error) {
	s := a.any
	a.key, a.Resource = a.line, s.home
	s.left, s.places, s.offers = false, 0, 0
	line := a.engine.queues.Enter(a.key)
	a.Queue = line
	from, err := a.acquire(ctx)
	if !s.left {
		line.Leave() // its turn has not come
	}
	if err == nil {
		won := from.Attempt
		a.key, a.Resource, a.Queue = won.Req.Key, won.Start.Resource, s.slots[won.Semaphore.Slot]
		delete(s.slots, won.Semaphore.Slot) // the lease leaves it
		if !won.Dequeued() {
			a.Queue.NotNamed()
		}
		l, late = a.lease(from)
	}
	for slot, q := range s.slots {
		q.Leave()
		delete(s.slots, slot)
	}
	return l, late, err
}

// toSlot makes an attempt one at the slot to ask for next.
func (a *contender) toSlot(t *attempt.Terms) {
	s := a.any
	q := a.slotQueue(s.of.Slot)
	name, _, _ := records.ParseSlot(s.home)
	t.Start.Resource, t.Queue = records.SlotName(name, s.of.Slot), &q.Calls
	t.Contender = queue.Slot{Line: a.Queue}
	// A caller that was named must not yield: the gate may have it in the queue again, from its attempt before, and would
	// name another for the slot that this attempt wins on the other nodes.
	if s.named, t.Yields = a.named, !a.named; !s.named {
		s.looks++
	}
}

// noteSlot notes what became of an attempt at a slot. Where one is held, others may wait: for a moment this process asks
// the gate first, which keeps it from overtaking them, and costs one command if the next slot is held, too.
func (a *contender) noteSlot(try *attempt.Attempt, res ballot.Result) {
	switch {
	case a.any != nil:
		a.any.note(try, res)
	case a.line != a.key && errors.Is(res.Err, lock.ErrHeld):
		a.engine.Contended.Mark(a.line, nodes.HandoffWindow)
	}
}

// note counts the places in the queue that an attempt may have given to the call.
func (s *anySlot) note(try *attempt.Attempt, res ballot.Result) {
	switch {
	case res.Err == nil || !try.Waiter.Enqueue:
	case res.GateRefused:
		s.places++
	default:
		s.places += 2 // its grant is being given back, or the gate has not answered
	}
}

// told takes the slot that a hint names.
func (a *contender) told(w queue.WakeUp) {
	if a.any != nil && w.Slot > 0 && w.Slot <= a.any.of.Slots {
		a.any.of.Slot = w.Slot - 1
	}
}

// takesOffer makes the coming attempt one at the slot that the gate offers. The gate may be the one node that is
// wrong: the call pauses after as many offers as there are slots.
func (a *contender) takesOffer(res ballot.Result) bool {
	s := a.any
	if s.offers++; res.Open < 1 || res.Open > s.of.Slots || s.offers > s.of.Slots {
		s.offers = 0
		return false
	}
	s.of.Slot, a.named = res.Open-1, true
	return true
}

// toNextSlot makes a call that was not named ask for another slot: where the gate grants the one that it asked for, and
// the others refuse, the gate offers none.
func (a *contender) toNextSlot() {
	if s := a.any; s != nil && !a.named {
		s.of.Slot = (s.of.Slot + 1) % s.of.Slots
	}
}

// spent reports that the call has made as many attempts as it may.
func (a *contender) spent() bool {
	if a.any != nil {
		return a.Opts.MaxAttempts > 0 && a.any.looks >= a.Opts.MaxAttempts
	}
	return a.attempts == a.Opts.MaxAttempts
}
