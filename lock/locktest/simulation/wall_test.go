package simulation

import (
	"math/rand/v2"
	"time"
)

// wallClock is the time as a client sees it: off by up to an hour, and stepped unless a node's clock steps. One of the
// two must be right during a quarantine.
type wallClock struct{ off, step, when time.Duration }

func (w wallClock) at(now time.Duration) time.Duration {
	if now >= w.when {
		return w.off + w.step
	}
	return w.off
}

func (p *plan) wallClock(r *rand.Rand) (w wallClock) {
	off, step, when := upTo(r, 2*time.Hour)-time.Hour, upTo(r, 2*time.Hour)-time.Hour, upTo(r, 8*time.Second)
	if p.steps || p.calm {
		return w
	}
	if chance(r, 0.3) {
		w.off = off
	}
	if chance(r, 0.3) {
		w.step, w.when = step, when
	}
	return w
}
