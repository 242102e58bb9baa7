package contest

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Which member the coming attempt asks for is decided here. A hint names one, the gate offers one, and after a poll
// without news it is the next. With one member, each of these is that member.
//
// A release keeps a slot for the first in the queue of the semaphore, and names it with the slot, which the waiter then
// asks all nodes for. The gate also names waiters for slots that became free without a release, each time that it
// refuses one of them.

// followHint makes the coming attempt one at the member that a hint names.
func (c *contest) followHint(w queue.WakeUp) {
	if w.Slot > 0 && w.Slot <= c.group.size {
		c.member, c.round = w.Slot-1, 0
	}
}

// takesOffer makes the coming attempt one at the slot that the gate offers. The gate may be the one node that is
// wrong: the call pauses after as many offers as there are slots.
func (c *contest) takesOffer(res ballot.Result) bool {
	if c.offers++; res.Open < 1 || res.Open > c.group.size || c.offers > c.group.size {
		c.offers = 0
		return false
	}
	c.member, c.named = res.Open-1, true
	return true
}

// maxRound bounds the load of a process that waits on nodes without a common queue: it asks for so many members beside
// its home in each poll interval.
const maxRound = 10

// untilRound ends a pause where a round is due. Hints for home do not put it off: late releases may name the call there
// again and again, while another has that member, and nobody tells it of the others.
func (c *contest) untilRound(p pause) pause {
	if c.group.common() || c.group.size == 1 || p.retry || p.kind == locktrace.WaitBackingOff {
		return p
	}
	if c.roundAt.IsZero() {
		c.roundAt = time.Now().Add(p.d)
	}
	if left := time.Until(c.roundAt); left < p.d {
		p.d, p.poll = max(left, 1), true
	}
	return p
}

func (c *contest) roundDue() bool { return !c.roundAt.IsZero() && !time.Now().Before(c.roundAt) }

// pollNext follows a poll without news. Where the gate grants the member that the call asked for, and the others refuse, the
// gate offers none. Without a common queue the call goes round.
func (c *contest) pollNext() {
	switch {
	case c.named:
	case c.group.common():
		c.member = (c.member + 1) % c.group.size
	case c.group.size > 1:
		c.roundAt = time.Time{}
		c.round = min(c.group.size-1, maxRound)
		c.advance()
	}
}

// continuesRound makes the coming attempt one at the next member of a round, and then at home, where the call waits again.
func (c *contest) continuesRound(res ballot.Result) bool {
	if c.group.common() || c.member == c.group.home {
		return false
	}
	if c.round--; c.round > 0 && c.taken(res.Err) {
		c.advance()
	} else {
		c.member, c.round = c.group.home, 0
	}
	return true
}

// advance goes to the next member beside home.
func (c *contest) advance() {
	if c.next = (c.next + 1) % c.group.size; c.next == c.group.home {
		c.next = (c.next + 1) % c.group.size
	}
	c.member = c.next
}

// queueOf has the calls about a member. Its user is the call, unless it is the line.
func (c *contest) queueOf(member int) *queue.Queue {
	if !c.group.any {
		return c.line
	}
	q, ok := c.members[member]
	if !ok {
		q = c.engine.Queues.Enter(c.group.keyOf(member))
		c.members[member] = q
	}
	return q
}

// noteMember notes why an attempt at a slot failed. Where one is held, others may wait: for a moment this process asks
// the gate first. It then overtakes nobody, and pays one command for the next slot that is held.
func (c *contest) noteMember(res *ballot.Result) {
	if !c.group.any {
		return
	}
	if other := c.otherSlots(c.last); other != nil {
		c.last, res.Err, res.Hopeless = other, other, true
		return
	}
	c.found[c.member] = c.last
	if c.taken(c.last) {
		c.last = c.full()
	}
	if c.sweeping && c.group.of.OneQueue && errors.Is(res.Err, lock.ErrHeld) {
		c.engine.Contended.Mark(c.group.key, nodes.HandoffWindow)
	}
}

// otherSlots is the error of a call that met a holder with another number of slots on nodes that do not compare them.
func (c *contest) otherSlots(err error) error {
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.SlotsKnown || held.Holder.Kind != lock.KindSemaphore || held.Holder.Slots == 0 ||
		held.Holder.Slots == c.group.of.Slots {
		return nil
	}
	name, _ := records.SemaphoreOf(held.Resource)
	return &lock.SlotsError{Name: name, Slots: c.group.of.Slots, Other: held.Holder.Slots, Held: held}
}

// taken reports that a member was not acquired because others have it, or asked for it at the same time.
func (c *contest) taken(err error) bool {
	if _, cut := errors.AsType[*lock.WaitError](err); cut {
		return false
	}
	votes, ok := errors.AsType[*lock.QuorumError](err)
	return errors.Is(err, errHere) || errors.Is(err, lock.ErrHeld) ||
		ok && votes.Refused > 0 && votes.Granted+votes.Refused >= votes.Quorum
}

// full says what the last attempt at each slot has met.
func (c *contest) full() error {
	full := &lock.FullError{Name: c.group.resource, Slots: c.group.size}
	for member := range c.group.size {
		err := c.found[member]
		held, isHeld := errors.AsType[*lock.HeldError](err)
		votes, isSplit := errors.AsType[*lock.QuorumError](err)
		switch {
		case errors.Is(err, errHere), c.engine.Queues.LeasesOf(c.group.keyOf(member)) > 0:
			full.Here++
		case isHeld:
			full.Held = append(full.Held, held)
		case isSplit && c.taken(err):
			full.Split = append(full.Split, votes)
		}
	}
	return full
}

// failed is the error of a call that ends with an attempt.
func (c *contest) failed(err error) error {
	if c.group.any && c.taken(err) {
		return c.full()
	}
	return err
}

// waitsForEither makes any member end the wait in the graph of waits, wherever the call queues.
func (c *contest) waitsForEither() {
	if len(c.graph.Leases()) == 0 || c.group.of == nil || c.group.of.Slots == 1 {
		return
	}
	of := records.Construct{Kind: lock.KindSemaphore, Slots: c.group.of.Slots}
	c.graph.WaitsForEither(func() []*deadlock.Resource {
		return c.engine.Queues.Graphs(records.SlotsOf(c.group.key, of))
	})
}
