package live

import (
	"time"

	"github.com/lockscope/lockscope/lock"
)

// queue is one resource of one locker, behind which its callers wait.
type queue struct {
	owner    *locker
	resource string
}

// queues remembers, while a State is made, what was found at the head of a queue.
type queues map[queue]heads

type heads struct{ own, others head }

// blockerOf is whom a waiter waits for; nil if that is not known. Who has been
// refused was told by whom. A caller in a local queue is told nothing: it waits for
// the lease held here, or else for whomever the caller that contends for all of
// them waits for. Of a Locker that calls no hooks it is only known that it cannot
// give away what it has given.
func blockerOf(m *lease, v view, known queues, now time.Time) *Blocker {
	contends := v.hooked && v.doing != lock.WaitLocal
	if contends && v.blocker == nil {
		return nil
	}
	h := known.of(m)
	me := m.owner.instance
	blocker := heldHere(h.own.holder, me, now)
	switch {
	case blocker != nil || !v.hooked:
		return blocker
	case contends:
		return heldElsewhere(v.blocker, v.toldAt, me, now)
	}
	return aheadOfQueue(h, me, now)
}

// aheadOfQueue is whom a whole queue waits for while its own locker holds nothing.
// What its own callers were told goes before what other lockers of the Board have
// of the same name.
func aheadOfQueue(h heads, me string, now time.Time) *Blocker {
	if blocker := heldElsewhere(h.own.blocker, h.own.toldAt, me, now); blocker != nil {
		return blocker
	}
	if blocker := heldHere(h.others.holder, me, now); blocker != nil {
		return blocker
	}
	return heldElsewhere(h.others.blocker, h.others.toldAt, me, now)
}

func (q queues) of(m *lease) heads {
	key := queue{m.owner, m.resource}
	h, ok := q[key]
	if !ok {
		h = m.shard.ahead(m)
		q[key] = h
	}
	return h
}

// head is who holds a resource, and whom the caller in front waits for.
type head struct {
	holder  *lease
	blocker *lock.HeldError
	toldAt  time.Time
}

// ahead looks for what m waits for, among what m's locker does and what others do.
func (s *shard) ahead(m *lease) (h heads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	which := func(x *lease) *head {
		if x.owner == m.owner {
			return &h.own
		}
		return &h.others
	}
	for x := s.held.first; x != nil && h.own.holder == nil; x = x.after {
		if x.resource == m.resource {
			which(x).holder = x
		}
	}
	for x := s.waiting.first; x != nil && h.own.blocker == nil && h.own.holder == nil; x = x.after {
		if x.resource == m.resource {
			which(x).contends(x)
		}
	}
	return h
}

// contends takes over whom a caller waits for, unless it is in a queue itself.
func (h *head) contends(x *lease) {
	if v := x.view(); v.doing != lock.WaitLocal && v.blocker != nil {
		h.blocker, h.toldAt = v.blocker, v.toldAt
	}
}

// heldHere describes a lease of this Board to a waiter that is called me; nil for a lease that has ended, and for none.
func heldHere(m *lease, me string, now time.Time) (blocker *Blocker) {
	if m == nil {
		return nil
	}
	h, ok := m.tell(now)
	if !ok {
		return nil
	}
	return &Blocker{
		Holder: h.Holder, Here: h.Holder == me, Age: &h.Age, Remaining: h.Validity,
		NeverExpires: h.Validity == nil, TraceID: h.TraceID,
	}
}

// heldElsewhere is what a refusal tells, as it was told a while ago.
func heldElsewhere(held *lock.HeldError, toldAt time.Time, me string, now time.Time) *Blocker {
	if held == nil {
		return nil
	}
	blocker := &Blocker{
		Holder: clip(held.Holder.Instance, maxName), Here: held.Holder.Instance == me,
		NeverExpires: held.Remaining < 0, HandedOver: held.HandedOver, TraceID: traceOf(held.Holder.Traceparent),
	}
	if !held.Holder.Since.IsZero() {
		blocker.Age = seconds(max(now.Sub(held.Holder.Since), 0))
	}
	if held.Remaining > 0 {
		blocker.Remaining = seconds(max(held.Remaining-now.Sub(toldAt), 0))
	}
	return blocker
}
