package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// progress is the last known state of a call that has not returned.
type progress int32

const (
	undecided     progress = iota // its first round, or somebody holds the lock
	withoutQuorum                 // too few nodes answered its last round, or too late
	behind                        // it waits for another call of this process to have its turn
)

// waiting is a list of the unfinished calls of a series, the oldest first. Its gauges are computed when they are
// collected, so an acquire pays only for the list.
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

// asks records the set of nodes that a call asks.
func (w *waiting) asks(e *entry, keyspace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.keyspace = keyspace
}

// asked is the lock that a call asks for.
func (w *waiting) asked(e *entry) lockKey {
	w.mu.Lock()
	defer w.mu.Unlock()
	return e.lockKey
}

// stalled adds the locks for which a call of the series has waited for too long without a quorum.
func (w *waiting) stalled(now time.Time, objective time.Duration, locks map[lockKey]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := w.first; e != nil; e = e.later {
		if now.Sub(e.began) > objective && progress(e.progress.Load()) == withoutQuorum {
			locks[e.shared()] = true
		}
	}
}

// tell sets the gauges, charges the time of each call so far, and counts those of constructs. A call behind another one
// for one of the stalled locks has no quorum either: the call in front, of any series, asks on its behalf.
func (w *waiting) tell(now time.Time, objective time.Duration, stalled map[lockKey]bool, charge func(decorate.Stretch),
	of *underWay,
) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var late, withoutAQuorum int
	for e := w.first; e != nil; e = e.later {
		stretch := e.clock.Take(now)
		charge(stretch)
		if p := e.part.Load(); p != nil {
			of.count(p.of.kind, p.waits(stretch.Class, stretch.Blocker))
		}
		if now.Sub(e.began) <= objective {
			continue
		}
		late++
		if p := progress(e.progress.Load()); p == withoutQuorum || p == behind && stalled[e.shared()] {
			withoutAQuorum++
		}
	}
	w.count.Set(float64(w.n))
	w.aboveObjective.Set(float64(late))
	w.withoutAQuorum.Set(float64(withoutAQuorum))
	if w.first == nil {
		w.since.Set(0)
		return
	}
	w.since.Set(timestamp(w.first.began))
}

// progressOf classifies the end of a round. A vote that was split, or lost to a holder, reached its nodes.
func progressOf(e locktrace.AttemptEnd) progress {
	if lock.ReasonOf(e.Err) == lock.ReasonNoQuorum && (e.Failed > e.Nodes-e.Quorum || e.Granted >= e.Quorum) {
		return withoutQuorum
	}
	return undecided
}
