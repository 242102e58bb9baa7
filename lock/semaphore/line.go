package semaphore

import (
	"math/rand/v2"
	"slices"
	"time"
)

// waiter is a call that waits. The Semaphore's mutex guards over and offered.
type waiter struct {
	front   chan struct{} // closed when the call is the first of those that wait
	offers  chan int      // a slot that was released here
	offered bool          // it has one, tries it, or gets no more
	over    bool          // it has a permit, or has given up
}

// enter adds a call to the line. released is what begin had returned: if a permit was released since then, the call may
// have missed the slot, and should look again at once.
func (s *Semaphore) enter(released int) (w *waiter, waitsOn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w = &waiter{front: make(chan struct{}), offers: make(chan int, 1)}
	if len(s.line) == 0 {
		s.waitsOn = s.near
		close(w.front)
		if released != s.released {
			s.looked = time.Time{}
		}
	}
	s.line = append(s.line, w)
	return w, s.waitsOn
}

// finish takes a call out of the line. It reports whether this was its first call for w: the wait in the queue and the
// looks can both get a slot at the same time, and only one of them may have it.
func (s *Semaphore) finish(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.over {
		return false
	}
	w.over = true
	at := slices.Index(s.line, w)
	s.line = slices.Delete(s.line, at, at+1)
	if at == 0 && len(s.line) > 0 {
		close(s.line[0].front)
	}
	select {
	case slot := <-w.offers:
		s.offer(slot)
	default:
	}
	return true
}

// offer tells the first call without an offer that a slot may be free. The callers of offer have the mutex. The slot in
// whose queue all wait needs no offer.
func (s *Semaphore) offer(slot int) {
	if slot == s.waitsOn || s.here[slot] != nil {
		return
	}
	for _, w := range s.line {
		if !w.offered {
			w.offered = true
			w.offers <- slot
			return
		}
	}
}

// offerAgain is for a slot that was offered to w and that w did not get. useless says that nobody else would. Else w cannot
// ask, for its time is up or the Locker is closed: it gets no more offers, for it would go through them without a pause.
func (s *Semaphore) offerAgain(w *waiter, slot int, useless bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.offered = !useless
	if !useless {
		s.offer(slot)
	}
}

// untilLook is how long the first call of the line waits before it looks at all slots.
func (s *Semaphore) untilLook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.looked.Add(s.every/2 + rand.N(s.every/2)))
}

// looks notes that a look at all slots begins. It returns the slot to begin with, and the last one that is not held
// here; -1 if all are.
func (s *Semaphore) looks() (first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Now()
	first, last = s.near, -1
	for i := range s.slots {
		if slot := (first + i) % len(s.slots); s.here[slot] == nil {
			last = slot
		}
	}
	return first, last
}
