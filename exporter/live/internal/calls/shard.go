package calls

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/history"
	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/lock"
)

// ledger remembers who held the resources of a shard.
type ledger struct {
	mu    sync.Mutex
	book  history.Book // guarded by mu
	lines lines        // guarded by mu

	short   names.ID // that a call has waited for, but not long; guarded by mu
	shortAt time.Time
}

// contend records that a call begins to wait, or has waited, and behind which holder if it was refused.
func (l *ledger) contend(of names.ID, behind *lock.HeldError, elsewhere bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book.Contend(of, behind, elsewhere, now)
}

// mayHaveEnded reports whether a lease of that name has ended since, or its end would not have been recorded.
func (l *ledger) mayHaveEnded(of names.ID, instance string, since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.book.MayHaveEnded(of, instance, since)
}

// shard has the calls and leases of some resources.
type shard[T any] struct {
	ledger
	waiting, held list[T]  // guarded by mu
	_             [64]byte // keeps shards out of each other's cache lines
}

func (s *shard[T]) wait(e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.add(e)
}

// hold makes a waiter a holder, behind whom others of its process may wait from now on.
func (s *shard[T]) hold(e *entry[T], id func(T) names.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) > 0 {
		s.lines.look(id(e.of), now)
	}
	s.waiting.remove(e)
	s.held.add(e)
}

// drop removes e, and reports whether it was held; a second call does nothing. Before that it records a holder whose
// resource somebody may have waited for.
func (s *shard[T]) drop(e *entry[T], note func(T, *history.Book)) (held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held = e.in == &s.held
	if held && !s.book.Empty() {
		note(e.of, &s.book)
	}
	s.waiting.remove(e)
	s.held.remove(e)
	return held
}

// of returns copies of its lists.
func (s *shard[T]) of() (waiting, held []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.copy(nil, s.waiting.n), s.held.copy(nil, s.held.n)
}
