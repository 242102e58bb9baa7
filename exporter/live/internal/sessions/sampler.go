package sessions

import (
	"sync/atomic"
	"time"
)

// Sampler calls a function every second while there is something to sample. It needs no closing: its timer ends by
// itself a second after the last call under way, and no goroutine waits for it. It is safe for concurrent use.
type Sampler struct {
	armed  atomic.Bool
	until  func(now time.Time) time.Duration
	sample func(now time.Time)
	busy   func() bool
}

// NewSampler makes a Sampler. until is the time until the next sample, and busy reports whether there is anything to
// sample.
func NewSampler(until func(now time.Time) time.Duration, sample func(now time.Time), busy func() bool) *Sampler {
	return &Sampler{until: until, sample: sample, busy: busy}
}

// Touch starts the timer if it does not run. It is to be called once a call is under way, as busy reports it.
func (s *Sampler) Touch() {
	if !s.armed.Load() && s.armed.CompareAndSwap(false, true) {
		s.arm()
	}
}

func (s *Sampler) arm() { time.AfterFunc(s.until(time.Now()), s.tick) }

// tick samples once, and once more after the last call under way has ended.
func (s *Sampler) tick() {
	again := s.busy()
	s.sample(time.Now())
	if again {
		s.arm()
		return
	}
	// A call that began meanwhile has either seen the timer as it ran, or it is under way now.
	s.armed.Store(false)
	if s.busy() {
		s.Touch()
	}
}
