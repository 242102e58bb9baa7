package graph

import (
	"cmp"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// blockerOf returns the holder that a waiter waits for. It is nil if that is unknown, and if the waiter waits for
// nodes.
//
// A lease of this Board counts, unless a later refusal names somebody else: then the lease is on another set of
// nodes, where the name may mean another lock. An older refusal is out of date. A caller in a local queue receives no
// refusals and waits for the holder that the caller in front waits for. A Locker that calls no hooks is only known
// not to give away what it has given.
func (s *scene) blockerOf(c *contention, w *calls.Waiter) *state.Blocker {
	if w.Hooked && w.Doing == locktrace.WaitBackingOff {
		return nil
	}
	me := w.Owner.Instance
	h, told := c.holderFor(w), s.confirmed(c, c.toldTo(w))
	if h != nil && (told == nil || h.Owner == w.Owner || !contradicts(told, h)) {
		return heldHere(h, me)
	}
	switch {
	case told == nil:
		return nil
	case !s.outdated(c.ID, told, w):
		return heldElsewhere(told, me, s.now)
	case h != nil:
		return heldHere(h, me)
	default:
		return nil
	}
}

// contradicts reports whether a waiter was refused, after the lease was granted, in the name of somebody else, by so
// many nodes that the lease cannot be on a quorum of them. A single node may not know yet that an earlier holder has
// released, while others refuse in the name of the present one. A refusal names one of several readers.
func contradicts(told *calls.Waiter, h *holder) bool {
	b := told.Blocker
	if h.reads() && b.Holder.Kind == lock.KindRead {
		return false
	}
	return !b.HandedOver && b.Holder.Instance != h.Owner.Instance && h.HeldAt.Before(told.RefusedAt()) && byMany(told)
}

// byMany reports whether so many nodes refused a waiter in one name that the rest is no quorum.
func byMany(told *calls.Waiter) bool {
	b := told.Blocker
	return b.Nodes-b.Named < b.Nodes/2+1
}

// confirmed returns the refusal of a waiter. If that was the vote of another waiting caller, whose attempt fails on
// the node that was asked first and alone, it returns the latest refusal by many nodes instead.
func (s *scene) confirmed(c *contention, told *calls.Waiter) *calls.Waiter {
	if told == nil || byMany(told) || told.Blocker.HandedOver || !c.waitsHere(told.Blocker.Holder.Instance) {
		return told
	}
	var best *calls.Waiter
	for _, w := range c.waiters {
		if w.Blocker != nil && byMany(w) && (best == nil || w.RefusedAt().After(best.RefusedAt())) && !s.outdated(c.ID, w, w) {
			best = w
		}
	}
	return cmp.Or(best, told)
}

// releasing is how long after the end of a lease nodes may still refuse in its name.
const releasing = 500 * time.Millisecond

// outdated reports whether a refusal names a holder of this Board whose lease has ended. Another process may have the
// same name, so a lease of that name must have been seen to end, or its end would not have been recorded.
func (s *scene) outdated(of text.ID, told, w *calls.Waiter) bool {
	instance := told.Blocker.Holder.Instance
	return w.Owner.Records.Instances.Has(instance) && w.MayHaveEnded(of, instance, told.RefusedAt().Add(-releasing))
}

// heldHere describes a lease of this Board to a waiter with the name me.
func heldHere(h *holder, me string) *state.Blocker {
	age := h.told.Age
	return &state.Blocker{
		Holder: h.told.Holder, Here: h.told.Holder == me, Age: &age, Remaining: h.told.Validity,
		Unrenewed: h.told.Unrenewed, NeverExpires: h.told.Validity == nil, CallSite: h.told.CallSite, TraceID: h.told.TraceID,
		Fence: h.told.Fence,
	}
}

// renewedAbove is the part of a lease's full validity that is left at least while it is renewed in time: renewal is due
// after a third of it.
const renewedAbove = .55

// heldElsewhere describes the holder that a refusal named a while ago.
func heldElsewhere(told *calls.Waiter, me string, now time.Time) *state.Blocker {
	held := told.Blocker
	blocker := &state.Blocker{
		Holder: text.Name(held.Holder.Instance), Here: held.Holder.Instance == me,
		NeverExpires: held.Remaining < 0, HandedOver: held.HandedOver, TraceID: text.TraceOf(held.Holder.Traceparent),
		CallSite: text.Name(held.Holder.CallSite), Page: text.PageOf(held.Holder.Page),
		Reason: text.Name(held.Holder.Reason), Done: held.Holder.Done,
	}
	if !held.Holder.Since.IsZero() {
		blocker.Age = state.Seconds(max(now.Sub(held.Holder.Since), 0))
	}
	if held.Remaining > 0 {
		blocker.Remaining = state.Seconds(max(held.Remaining-now.Sub(told.Began.Add(told.ToldAt)), 0))
		if !held.Holder.Done && held.Remaining.Seconds() < renewedAbove*told.Full.Seconds() {
			blocker.Unrenewed = state.Seconds(told.Full - held.Remaining)
		}
	}
	return blocker
}
