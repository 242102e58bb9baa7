package locktest

import (
	"maps"
	"slices"
	"time"
)

// HeldLock is a server's value under a lock key.
type HeldLock struct {
	Key     string
	Token   string // the owner's secret: for comparing, not for showing
	Counter uint64
	Holder  string
	Left    time.Duration // until it expires, in true time
}

// Locks returns the lock keys on the server, in order.
func (s *FakeServer) Locks() []HeldLock {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Expire(s.nowUS() / 1000)
	var all []HeldLock
	for _, key := range slices.Sorted(maps.Keys(s.state.Locks)) {
		all = append(all, s.held(key))
	}
	return all
}

// Lock returns the value under one lock key, if there is one.
func (s *FakeServer) Lock(key string) (HeldLock, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Expire(s.nowUS() / 1000)
	if _, held := s.state.Locks[key]; !held {
		return HeldLock{}, false
	}
	return s.held(key), true
}

func (s *FakeServer) held(key string) HeldLock {
	v := s.state.Locks[key]
	left := float64((v.Expires+1)*1000-s.nowUS()) * 1000 / s.rate
	return HeldLock{Key: key, Token: v.Token, Counter: v.Counter, Holder: v.Holder, Left: time.Duration(left)}
}

// Mark returns who revoked the lease of a token and why, as a record; "" if nobody has.
func (s *FakeServer) Mark(key, token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Expire(s.nowUS() / 1000)
	return s.state.MarkOf(key, token)
}

// QueueLength returns the number of waiters in all queues.
func (s *FakeServer) QueueLength() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Expire(s.nowUS() / 1000)
	return s.state.Waiters()
}

// Entry returns the record of a waiter in the queue of a lock key, after its ticket and a line break; "" if
// it has not written one for 30 seconds.
func (s *FakeServer) Entry(key, waiterID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Entry(key, waiterID)
}

// Reservations returns the number of locks that are reserved for a waiter.
func (s *FakeServer) Reservations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Expire(s.nowUS() / 1000)
	return s.state.Reserved()
}

// Counter returns the fence counter of a lock key.
func (s *FakeServer) Counter(key string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Counters[key]
}

// SetCounter sets the fence counter of a lock key.
func (s *FakeServer) SetCounter(key string, counter uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Counters[key] = counter
}

// TTLs returns the shortest and the longest TTL that any lock key ever had; zero if there was none.
func (s *FakeServer) TTLs() (shortest, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shortest, s.longest
}

// given notes a TTL that a script set. It expects the mutex to be held.
func (s *FakeServer) given(set bool, ttl time.Duration) {
	if !set {
		return
	}
	if s.shortest == 0 || ttl < s.shortest {
		s.shortest = ttl
	}
	s.longest = max(s.longest, ttl)
}

// quarantine is for how long the server may not vote.
func (s *FakeServer) quarantine() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.silent)
}
