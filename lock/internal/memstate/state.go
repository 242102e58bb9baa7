// Package memstate is what a node of a lock stores and what its commands do with it,
// in memory: the Lua scripts of package redlock, line by line, in Go. Package memlock
// serves it, and package locktest simulates servers on it; a test there compares it
// with the scripts on a real server.
package memstate

import (
	"cmp"
	"maps"
	"slices"
)

// State is what a server stores, by lock key, and when it expires. Times are the
// server's own, in milliseconds where Redis has milliseconds.
type State struct {
	Locks    map[string]Lock
	Counters map[string]uint64
	Marker   string // of the guard: what proves that the server remembers; "" if there is none

	readers map[string]map[string]Lock // by lock key and token
	bars    map[stay]bar

	tombs  map[tomb]grave
	next   map[string]reservation
	queues map[string]*queue
	saying map[stay]entry
	slots  map[string]slotCount // by the key of the semaphore
}

// Lock is a lock that is held.
type Lock struct {
	Token   string
	Counter uint64
	Holder  string
	Expires int64 // ms
}

// tomb keeps a token from being granted again.
type tomb struct{ key, grant string }

// reservation keeps a lock for a waiter that was named.
type reservation struct {
	waiter  string
	expires int64 // ms
}

// queue is a sorted set of waiters.
type queue struct {
	tickets map[string]int64
	expires int64 // ms
}

// stay identifies a waiter in the queue of a key.
type stay struct{ key, waiter string }

// entry is a waiter's record.
type entry struct {
	text    string
	expires int64 // ms
}

// New returns an empty state.
func New() *State {
	return &State{
		Locks:    make(map[string]Lock),
		Counters: make(map[string]uint64),
		readers:  make(map[string]map[string]Lock),
		bars:     make(map[stay]bar),
		tombs:    make(map[tomb]grave),
		next:     make(map[string]reservation),
		queues:   make(map[string]*queue),
		saying:   make(map[stay]entry),
		slots:    make(map[string]slotCount),
	}
}

// Clone returns a copy.
func (s *State) Clone() *State {
	c := &State{
		Locks: maps.Clone(s.Locks), Counters: maps.Clone(s.Counters), Marker: s.Marker,
		tombs: maps.Clone(s.tombs), next: maps.Clone(s.next), queues: make(map[string]*queue),
		saying: maps.Clone(s.saying), slots: maps.Clone(s.slots), readers: make(map[string]map[string]Lock),
		bars: maps.Clone(s.bars),
	}
	for key, all := range s.readers {
		c.readers[key] = maps.Clone(all)
	}
	for key, q := range s.queues {
		c.queues[key] = &queue{tickets: maps.Clone(q.tickets), expires: q.expires}
	}
	return c
}

// Expire drops what has expired. Like Redis, it lets a key live through the
// millisecond in which its time is up.
func (s *State) Expire(nowMS int64) {
	maps.DeleteFunc(s.Locks, func(_ string, v Lock) bool { return nowMS > v.Expires })
	s.expireShared(nowMS)
	maps.DeleteFunc(s.tombs, func(_ tomb, g grave) bool { return nowMS > g.expires })
	maps.DeleteFunc(s.next, func(_ string, r reservation) bool { return nowMS > r.expires })
	maps.DeleteFunc(s.saying, func(_ stay, e entry) bool { return nowMS > e.expires })
	maps.DeleteFunc(s.slots, func(_ string, c slotCount) bool { return nowMS > c.expires })
	maps.DeleteFunc(s.queues, func(_ string, q *queue) bool { return nowMS > q.expires || len(q.tickets) == 0 })
}

// Waiters returns the number of waiters in all queues.
func (s *State) Waiters() (n int) {
	for _, q := range s.queues {
		n += len(q.tickets)
	}
	return n
}

// Entry returns a waiter's record for a key, after its ticket and a line break; "" if there is none.
func (s *State) Entry(key, waiter string) string { return s.saying[stay{key, waiter}].text }

// Reserved returns the number of locks that are reserved for a waiter.
func (s *State) Reserved() int { return len(s.next) }

// queue returns the queue under key, which may be new and empty.
func (s *State) queue(key string) *queue {
	q, ok := s.queues[key]
	if !ok {
		q = &queue{tickets: make(map[string]int64), expires: 1<<62 - 1}
		s.queues[key] = q
	}
	return q
}

// order is the waiters by ticket, then by name, as a sorted set has them.
func (q *queue) order() []string {
	return slices.SortedFunc(maps.Keys(q.tickets), func(a, b string) int {
		return cmp.Or(cmp.Compare(q.tickets[a], q.tickets[b]), cmp.Compare(a, b))
	})
}

// head is the first waiter, "" if there is none.
func (q *queue) head() string {
	if len(q.tickets) == 0 {
		return ""
	}
	return q.order()[0]
}

// pop takes the first waiter out.
func (q *queue) pop() string {
	head := q.head()
	delete(q.tickets, head)
	return head
}

// rank is how many are in front of waiter.
func (q *queue) rank(waiter string) int { return slices.Index(q.order(), waiter) }
