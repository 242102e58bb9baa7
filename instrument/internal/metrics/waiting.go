package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
)

// progress is what a call that has not returned met last.
type progress int32

const (
	undecided     progress = iota // its first round, or somebody holds the lock
	withoutQuorum                 // too few nodes answered its last round, or too late
	behind                        // it waits for another call of this process to have its turn
)

// waiting is a list of the calls of a series that have not returned, the oldest first. Its
// gauges are worked out when they are collected: an acquire pays for the list alone.
type waiting struct {
	count, since                   prometheus.Gauge
	aboveObjective, withoutAQuorum prometheus.Gauge

	mu sync.Mutex
	list
}

func (w *waiting) add(e *entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.push(e)
}

func (w *waiting) remove(e *entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(e)
}

// tell sets the gauges. It looks at the calls that wait for longer than the objective, and at one more.
func (w *waiting) tell(now time.Time, objective time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var late, stalled, queued int
	for e := w.first; e != nil && now.Sub(e.began) > objective; e = e.later {
		late++
		switch progress(e.progress.Load()) {
		case withoutQuorum:
			stalled++
		case behind:
			queued++
		}
	}
	if stalled > 0 { // the call in front of them asks on their behalf
		stalled += queued
	}
	w.count.Set(float64(w.n))
	w.aboveObjective.Set(float64(late))
	w.withoutAQuorum.Set(float64(stalled))
	if w.first == nil {
		w.since.Set(0)
		return
	}
	w.since.Set(timestamp(w.first.began))
}

// progressOf reads the end of a round. A vote that was split, or lost to a holder, found its nodes.
func progressOf(e lock.AttemptEnd) progress {
	if lock.ReasonOf(e.Err) == lock.ReasonNoQuorum && (e.Failed > e.Nodes-e.Quorum || e.Granted >= e.Quorum) {
		return withoutQuorum
	}
	return undecided
}
