package livetest

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Source tells what a function returns, and counts how often. It is safe for
// concurrent use.
type Source struct {
	mu    sync.Mutex
	state func() state.State
	calls int
}

// NewSource makes a Source that calls state.
func NewSource(state func() state.State) *Source { return &Source{state: state} }

// Fixed makes a Source that always tells the same, save for the time.
func Fixed(s state.State) *Source {
	return NewSource(func() state.State {
		s.At = time.Now()
		return s
	})
}

// State implements exporter.StateSource.
func (s *Source) State(context.Context) state.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.state()
}

// Set makes s call state from now on.
func (s *Source) Set(state func() state.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// Called is how often State was called.
func (s *Source) Called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}
