package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// blockerOf is whom a waiter waits for; nil if that is not known, and where it waits for
// nodes instead.
//
// A lease of this Board is the truth, unless a refusal that came later names somebody
// else: then the lease is of another set of nodes, on which the name is free to mean
// something else. An older refusal is out of date. A caller in a local queue is told
// nothing: it waits for whomever the caller in front of it waits for. Of a Locker that
// calls no hooks it is only known that it cannot give away what it has given.
func (l *look) blockerOf(c *contention, w *waiter) *Blocker {
	if w.hooked && w.doing == lock.WaitBackoff {
		return nil
	}
	me := w.owner.instance
	h, told := c.holderFor(w), l.confirmed(c, c.toldTo(w))
	if h != nil && (told == nil || h.owner == w.owner || !told.contradicts(h)) {
		return heldHere(h, me)
	}
	switch {
	case told == nil:
		return nil
	case !l.board.outdated(c.id, told, w):
		return heldElsewhere(told.blocker, told.toldAt, me, l.now)
	case h != nil:
		return heldHere(h, me)
	default:
		return nil
	}
}

// contradicts reports that a waiter was refused, after the lease was granted, in the name
// of somebody else, by so many nodes that the lease cannot be on a quorum of them. A
// single node may not have heard yet that an earlier holder has let go, while others refuse in the
// name of the present one.
func (told *waiter) contradicts(h *holder) bool {
	b := told.blocker
	return !b.HandedOver && b.Holder.Instance != h.owner.instance && h.heldAt.Before(told.asOf) && told.byMany()
}

// byMany reports that so many nodes refused a waiter in one name that the rest is no quorum.
func (told *waiter) byMany() bool {
	b := told.blocker
	return b.Nodes-b.Named < b.Nodes/2+1
}

// confirmed is what a waiter was told, or the latest refusal by many nodes where that was
// the vote of a caller that waits itself: of an attempt that fails, on the node that was
// asked first and alone.
func (l *look) confirmed(c *contention, told *waiter) *waiter {
	if told == nil || told.byMany() || told.blocker.HandedOver || !c.waitsHere(told.blocker.Holder.Instance) {
		return told
	}
	var best *waiter
	for _, w := range c.waiters {
		if w.blocker != nil && w.byMany() && (best == nil || w.asOf.After(best.asOf)) && !l.board.outdated(c.id, w, w) {
			best = w
		}
	}
	return cmp.Or(best, told)
}

func (c *contention) waitsHere(instance string) bool {
	return slices.ContainsFunc(c.waiters, func(w *waiter) bool { return w.owner.instance == instance })
}

// holderFor is the lease that keeps the waiter from having the resource: of its own
// locker, or else the latest of another.
func (c *contention) holderFor(w *waiter) *holder {
	var other *holder
	for i := range c.holders {
		if c.holders[i].owner == w.owner {
			return &c.holders[i]
		}
		if other == nil && w.hooked {
			other = &c.holders[i]
		}
	}
	return other
}

// toldTo is whose refusal counts for a waiter: its own, or for one in a local queue that
// of the caller in front, or of any; nil if nobody was told.
func (c *contention) toldTo(w *waiter) *waiter {
	switch {
	case !w.hooked:
		return nil
	case w.doing != lock.WaitLocal && w.blocker == nil:
		return nil
	case w.doing != lock.WaitLocal:
		return w
	}
	if c.heads == nil {
		c.findHeads()
	}
	if own := c.heads[w.owner]; own != nil {
		return own
	}
	return c.heads[nil]
}

// findHeads finds the callers in front, of each locker and of all.
func (c *contention) findHeads() {
	c.heads = make(map[*locker]*waiter)
	for _, w := range c.waiters {
		if w.doing == lock.WaitLocal || w.blocker == nil {
			continue
		}
		for _, of := range []*locker{w.owner, nil} {
			if c.heads[of] == nil {
				c.heads[of] = w
			}
		}
	}
}

// releasing is how long after the end of a lease nodes may still refuse in its name.
const releasing = 500 * time.Millisecond

// outdated reports that a refusal names a holder of this Board whose lease has ended: it
// would be on the Board. Another process may have the same name; so it counts that a
// lease of that name was seen to end, where that would have been noted.
func (b *Board) outdated(of id, told, w *waiter) bool {
	if !b.names(told.blocker.Holder.Instance) {
		return false
	}
	s := w.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.contended[of]
	return h == nil || h.endedSince(told.blocker.Holder.Instance, told.asOf.Add(-releasing))
}

// heldHere describes a lease of this Board to a waiter that is called me.
func heldHere(h *holder, me string) *Blocker {
	age := h.told.Age
	return &Blocker{
		Holder: h.told.Holder, Here: h.told.Holder == me, Age: &age, Remaining: h.told.Validity,
		NeverExpires: h.told.Validity == nil, CallSite: h.told.CallSite, TraceID: h.told.TraceID,
	}
}

// heldElsewhere is what a refusal tells, as it was told a while ago.
func heldElsewhere(held *lock.HeldError, toldAt time.Time, me string, now time.Time) *Blocker {
	blocker := &Blocker{
		Holder: clip(held.Holder.Instance, maxName), Here: held.Holder.Instance == me,
		NeverExpires: held.Remaining < 0, HandedOver: held.HandedOver, TraceID: traceOf(held.Holder.Traceparent),
		CallSite: clip(held.Holder.CallSite, maxName), Page: pageOf(held.Holder.Page),
	}
	if !held.Holder.Since.IsZero() {
		blocker.Age = seconds(max(now.Sub(held.Holder.Since), 0))
	}
	if held.Remaining > 0 {
		blocker.Remaining = seconds(max(held.Remaining-now.Sub(toldAt), 0))
	}
	return blocker
}
