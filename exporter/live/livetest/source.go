package livetest

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
)

// Source tells what a function returns, and counts how often. It is safe for
// concurrent use.
type Source struct {
	mu    sync.Mutex
	state func() live.State
	calls int
}

// NewSource makes a Source that calls state.
func NewSource(state func() live.State) *Source { return &Source{state: state} }

// Fixed makes a Source that always tells the same, save for the time.
func Fixed(state live.State) *Source {
	return NewSource(func() live.State {
		state.At = time.Now()
		return state
	})
}

// State implements exporter.StateSource.
func (s *Source) State(context.Context) live.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.state()
}

// Set makes s call state from now on.
func (s *Source) Set(state func() live.State) {
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
