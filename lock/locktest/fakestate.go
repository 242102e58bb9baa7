package locktest

import (
	"cmp"
	"maps"
	"slices"
)

// state is what a server stores: the keys that the scripts of package lock touch,
// and when they expire. Times are the server's own, in milliseconds where Redis
// has milliseconds.
type state struct {
	life     string           // the marker that somebody vouched for the server
	locks    map[string]value // lock key
	counters map[string]uint64
	tombs    map[string]int64 // tombstone key -> expiry
	next     map[string]reservation
	queues   map[string]*queue
}

// value is a lock key's: token:counter|holder, taken apart.
type value struct {
	token   string
	counter uint64
	holder  string
	expires int64 // ms
}

type reservation struct {
	waiter  string
	expires int64 // ms
}

// queue is a sorted set of waiters.
type queue struct {
	tickets map[string]int64
	expires int64 // ms
}

func newState() *state {
	return &state{
		locks:    make(map[string]value),
		counters: make(map[string]uint64),
		tombs:    make(map[string]int64),
		next:     make(map[string]reservation),
		queues:   make(map[string]*queue),
	}
}

func (s *state) clone() *state {
	c := &state{
		life: s.life, locks: maps.Clone(s.locks), counters: maps.Clone(s.counters),
		tombs: maps.Clone(s.tombs), next: maps.Clone(s.next), queues: make(map[string]*queue),
	}
	for key, q := range s.queues {
		c.queues[key] = &queue{tickets: maps.Clone(q.tickets), expires: q.expires}
	}
	return c
}

// expire drops what has expired. Like Redis, it lets a key live through the
// millisecond in which its time is up.
func (s *state) expire(nowMS int64) {
	maps.DeleteFunc(s.locks, func(_ string, v value) bool { return nowMS > v.expires })
	maps.DeleteFunc(s.tombs, func(_ string, at int64) bool { return nowMS > at })
	maps.DeleteFunc(s.next, func(_ string, r reservation) bool { return nowMS > r.expires })
	maps.DeleteFunc(s.queues, func(_ string, q *queue) bool { return nowMS > q.expires || len(q.tickets) == 0 })
}

// queue returns the queue under key, which may be new and empty.
func (s *state) queue(key string) *queue {
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
