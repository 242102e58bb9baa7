package clock

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// unanswered is the latency of a probe that got no answer, at least. An outage must not look fast.
const unanswered = time.Second

// settle is the beginning of a rest, in which commands may still queue behind those that a page delayed.
const settle = time.Millisecond

// Pacer reads the pages of one server at the pace that the server allows. Its methods are for one goroutine at a time.
type Pacer struct {
	probe func(context.Context) error
	stop  context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	pace    *Pace
	resting time.Time // since when; zero: pages are read
}

// StartPacer makes a Pacer that sends the probe over and over, until ctx ends or Stop is called. The probe returns an
// error only if the server did not answer. size is the largest number of keys in a page, and flat is the pause at the
// slowest pace.
func StartPacer(ctx context.Context, size int, flat time.Duration, probe func(context.Context) error) *Pacer {
	ctx, stop := context.WithCancel(ctx)
	p := &Pacer{probe: probe, stop: stop, done: make(chan struct{}), pace: NewPace(size, flat)}
	go p.run(ctx)
	return p
}

// Stop ends the probes, and waits for the last one. It may be called again.
func (p *Pacer) Stop() {
	p.stop()
	<-p.done
}

// Count returns the number of keys to ask for in the next page, which takes that many round trips.
func (p *Pacer) Count(trips int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pace.Count(trips)
}

// Pause leaves the server alone after a page, and reports whether ctx lasted that long.
func (p *Pacer) Pause(ctx context.Context) bool {
	p.mu.Lock()
	began := time.Now()
	pause, rest := p.pace.Pause()
	if rest {
		p.resting = began
	}
	p.mu.Unlock()
	lasted := Pause(ctx, pause)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting = time.Time{}
	p.pace.Paused(time.Since(began))
	return lasted
}

// run sends probes at random moments, which are no more often during pages than a client's commands are.
func (p *Pacer) run(ctx context.Context) {
	defer close(p.done)
	for Pause(ctx, everyProbe/2+rand.N(everyProbe)) {
		began := time.Now()
		p.mu.Lock()
		rest, calm := !p.resting.IsZero(), !p.resting.IsZero() && began.Sub(p.resting) >= settle
		p.mu.Unlock()
		err := p.probe(ctx)
		took := time.Since(began)
		if err != nil {
			took = max(took, unanswered)
		}
		if ctx.Err() != nil || rest && (!calm || err != nil) {
			continue
		}
		p.mu.Lock()
		p.pace.Observe(took, calm)
		p.mu.Unlock()
	}
}
