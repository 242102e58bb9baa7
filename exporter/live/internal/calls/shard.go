package calls

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

// shard has the calls and leases of some resources, and remembers who held them.
type shard struct {
	mu            sync.Mutex
	waiting, held list      // guarded by mu, as all others
	histories     histories // of contended resources
	lines         lines
	short         text.ID // that a call has waited for, but not long
	shortAt       time.Time

	_ [64]byte // keeps shards out of each other's cache lines
}

func (s *shard) wait(m *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.add(m)
}

// hold makes a waiter a holder, behind whom others of its process may wait from now on.
func (s *shard) hold(m *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) > 0 {
		s.lines.look(m.ID(), m.HeldAt)
	}
	s.waiting.remove(m)
	s.held.add(m)
}

// drop removes m, and reports whether it was held; a second call does nothing. It remembers a holder whose resource
// somebody has waited for.
func (s *shard) drop(m *Lease, lost bool) (held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held = m.in == &s.held
	if held && len(s.histories) > 0 {
		if h := s.histories[m.ID()]; h != nil {
			h.add(m.tenure(time.Now(), lost))
		}
	}
	s.waiting.remove(m)
	s.held.remove(m)
	return held
}

// released corrects what drop remembers of a lost lease that was released later.
func (s *shard) released(m *Lease, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.histories[m.ID()]; h != nil {
		h.release(m.tenure(now, false))
	}
}

// of returns copies of its lists.
func (s *shard) of() (waiting, held []*Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.copy(nil, s.waiting.n), s.held.copy(nil, s.held.n)
}

// look is for an event of one call, after which others may wait for something else.
func (s *shard) look(id func() text.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) > 0 {
		s.lines.look(id(), now)
	}
}

// list links leases in the order they were added. Unlike a map it keeps no memory for removed ones.
type list struct {
	first, last *Lease
	n           int
}

// entry is a lease's place in a list.
type entry struct {
	in            *list // at most one
	before, after *Lease
}

func (l *list) add(m *Lease) {
	m.entry = entry{in: l, before: l.last}
	if l.last == nil {
		l.first = m
	} else {
		l.last.after = m
	}
	l.last = m
	l.n++
}

// remove does nothing if m is in another list or none.
func (l *list) remove(m *Lease) {
	if m.in != l {
		return
	}
	if m.before == nil {
		l.first = m.after
	} else {
		m.before.after = m.after
	}
	if m.after == nil {
		l.last = m.before
	} else {
		m.after.before = m.before
	}
	m.entry = entry{}
	l.n--
}

// copy appends at most limit leases of a list.
func (l *list) copy(to []*Lease, limit int) []*Lease {
	for m := l.first; m != nil && limit > 0; m = m.after {
		to = append(to, m)
		limit--
	}
	return to
}
