package memstate

import (
	"cmp"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// slotCount is how many slots a semaphore has.
type slotCount struct {
	slots   int
	expires int64 // ms
}

// compareSlots is slots.lua before acquire.lua. It returns how many slots the semaphore has, 0 if the lock is not one of
// them, and whether the request has the same number.
func (s *Instant) compareSlots(of *driver.Semaphore) (known int, same bool) {
	if of == nil {
		return 0, true
	}
	if known, ok := s.slots[of.Key]; ok && known.slots != of.Slots {
		return known.slots, false
	}
	s.keepSlots(of.Key, of.Slots, of.Keep)
	return of.Slots, true
}

// hasSlot is slots.lua before extend.lua. A server that may not vote takes no number of slots.
func (s *Instant) hasSlot(of *driver.Semaphore, votes bool) bool {
	if of == nil {
		return true
	}
	known, ok := s.slots[of.Key]
	switch {
	case ok && of.Slot >= known.slots:
		return false
	case ok:
		s.keepSlots(of.Key, known.slots, of.Keep)
	case votes:
		s.keepSlots(of.Key, of.Slots, of.Keep)
	}
	return true
}

// keepSlots remembers the number of slots for at least half of keep. It writes no more often than the scripts do.
func (s *Instant) keepSlots(key string, slots int, keep time.Duration) {
	known, ok := s.slots[key]
	if ok && known.slots == slots && known.expires-s.ms() >= millis(keep)/2 {
		return
	}
	s.slots[key] = slotCount{slots: slots, expires: s.after(keep)}
}

// Resize is resize.lua.
func (s *Instant) Resize(req driver.ResizeRequest) driver.ResizeReply {
	known := s.slots[req.Key].slots
	if req.To != 0 && (known == 0 || known == req.From || known == req.To) {
		s.slots[req.Key] = slotCount{slots: req.To, expires: s.after(req.Keep)}
	}
	return driver.ResizeReply(known)
}

// line is the key under which the waiters for a lock queue.
func line(key string, of *driver.Semaphore) string {
	if of != nil && of.OneQueue {
		return of.QueueKey()
	}
	return key
}

// offer is offer.lua: it names waiters for the slots that are free and kept for nobody. It returns 1 + a slot that is
// kept for the caller, or else one that nobody wants; 0 if there is none.
func (s *Instant) offer(of *driver.Semaphore, caller string, window time.Duration) int {
	own, free := 0, 0
	for slot := range of.Slots {
		key := of.SlotKey(slot)
		kept, reserved := s.next[key]
		if s.taken(key) || reserved && kept.waiter != caller {
			continue
		}
		named := kept.waiter
		if !reserved {
			named = s.nameNext(key, of.QueueKey(), window, caller)
		}
		switch {
		case named == "" && free == 0:
			free = slot + 1
		case named != "" && named == caller && own == 0:
			own = slot + 1
		}
	}
	return cmp.Or(own, free)
}

// taken reports that somebody has the lock.
func (s *Instant) taken(key string) bool {
	_, held := s.Locks[key]
	return held || len(s.readers[key]) > 0
}

// leaveSlots is leaveslots.lua.
func (s *Instant) leaveSlots(req driver.LeaveRequest) {
	of := req.Semaphore
	delete(s.queue(of.QueueKey()).tickets, req.WaiterID)
	delete(s.saying, stay{of.QueueKey(), req.WaiterID})
	for slot := range of.Slots {
		key := of.SlotKey(slot)
		if kept, reserved := s.next[key]; !reserved || kept.waiter != req.WaiterID {
			continue
		}
		delete(s.next, key)
		if !s.taken(key) {
			s.nameNext(key, of.QueueKey(), req.Handoff, "")
		}
	}
}
