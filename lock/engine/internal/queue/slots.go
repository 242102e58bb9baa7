package queue

import (
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// The callers of this process that wait for any slot of a semaphore have one queue, their line. The calls about each
// slot have the slot's own queue, so that they keep their order.

// maxSemaphores bounds how many semaphores are remembered. A slot that is kept for this process is free again after
// the hand-off window in any case.
const maxSemaphores = 1024

// semaphore is one that a call of this process has asked for.
type semaphore struct {
	of   driver.Semaphore
	near int // the slot to ask for first: the one that was released here last
}

// Remember notes a semaphore, for messages that come too late, and returns the slot to ask for first.
func (all *Queues) Remember(of *driver.Semaphore, random func(time.Duration) time.Duration) (near int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.semaphores[of.Key]
	if s == nil {
		if len(all.semaphores) >= maxSemaphores {
			clear(all.semaphores)
		}
		s = &semaphore{near: int(random(time.Duration(of.Slots)))}
		all.semaphores[of.Key] = s
	}
	s.of = *of
	return s.near % of.Slots
}

// SemaphoreOf is the semaphore that the key of a slot belongs to, with that slot; nil if it is not known.
func (all *Queues) SemaphoreOf(key string) *driver.Semaphore {
	if !strings.Contains(key, "#") {
		return nil
	}
	name, slot, ok := records.ParseSlot(key)
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.semaphores[name]
	if !ok || s == nil || slot >= s.of.Slots {
		return nil
	}
	of := s.of
	of.Slot = slot
	return &of
}

// ReleasedSlot is Released for a slot: the caller that waits first in its line goes on, with this slot. Without a queue
// for all slots on the nodes, the release has named nobody here.
func (q *Queue) ReleasedSlot(of *driver.Semaphore) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if s := q.all.semaphores[of.Key]; s != nil {
		s.near = of.Slot
	}
	l := q.all.byKey[of.QueueKey()]
	if !of.OneQueue {
		if l != nil && l.contends() {
			l.signal(WakeUp{Slot: of.Slot + 1})
		}
		return
	}
	q.nameDue = l != nil && l.First.CompareAndSwap(true, false)
	if q.nameDue {
		l.signal(WakeUp{Named: true, Slot: of.Slot + 1})
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

// LeasesOf is how many leases of this process have the key.
func (all *Queues) LeasesOf(key string) int {
	all.mu.Lock()
	defer all.mu.Unlock()
	if q := all.byKey[key]; q != nil {
		return int(q.Leases.Load())
	}
	return 0
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
