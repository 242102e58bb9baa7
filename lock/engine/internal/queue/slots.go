package queue

// The callers of this process that wait for any slot of a semaphore have one queue, their line. The calls about each
// slot have the slot's own queue, so that they keep their order.

// Slot is a slot whose line has this queue. It implements nodes.Contender.
type Slot struct{ Line *Queue }

// GrantWasted implements nodes.Contender.
func (s Slot) GrantWasted() { s.Line.GrantWasted() }

// ReleasedSlot is Released for a slot: the caller that waits first in its line goes on, with this slot.
func (q *Queue) ReleasedSlot(line string, slot int) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	l := q.all.byKey[line]
	q.nameDue = l != nil && l.First.CompareAndSwap(true, false)
	if q.nameDue {
		l.signal(WakeUp{Named: true, Slot: slot + 1})
	}
}

// WakeUpForSlot signals the caller that contends in the line of a slot. It reports whether the message needs no other
// answer: one contends, or one that knew of its name has a lease of the slot by now. Any other name for a slot that a
// lease of this process has comes from a node that lost it. It costs the caller that contends its place in the queue, so
// that caller asks again.
func (all *Queues) WakeUpForSlot(line, key string, slot int) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if q := all.byKey[key]; q != nil && q.nameDue {
		q.nameDue = false
		if q.Leases.Load() > 0 {
			return true
		}
	}
	l := all.byKey[line]
	if l == nil || !l.contends() {
		return false
	}
	l.signal(WakeUp{Named: true, Slot: slot + 1})
	return true
}

// NotNamed says that a caller got the slot with this queue, and that the gate did not grant it: the gate keeps the slot
// for another, so that the next name for it is meant for another caller.
func (q *Queue) NotNamed() {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	q.nameDue = false
}

// Forget drops a hint that came too late for the caller that contends.
func (q *Queue) Forget() {
	select {
	case <-q.Wake:
	default:
	}
}
