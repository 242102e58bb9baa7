package instrument

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
)

// outcome indexes the values of the label outcome of acquisitions_total.
type outcome int

const (
	acquired outcome = iota
	contended
	timeout
	canceled
	noQuorum
	otherError
	outcomes
)

var outcomeNames = [outcomes]string{"acquired", "contended", "timeout", "canceled", "no_quorum", "error"}

func (o outcome) String() string { return outcomeNames[o] }

func outcomeOf(err error) outcome {
	switch lock.ReasonOf(err) {
	case lock.ReasonHeld:
		return contended
	case lock.ReasonTimeout:
		return timeout
	case lock.ReasonCanceled:
		return canceled
	case lock.ReasonNoQuorum:
		return noQuorum
	default:
		return otherError
	}
}

// extension indexes the values of the label outcome of extensions_total.
type extension int

const (
	extendOK extension = iota
	extendLost
	extendError
	extendOvertaken
	extensions
)

var extensionNames = [extensions]string{"ok", "lost", "error", "overtaken"}

func (e extension) String() string { return extensionNames[e] }

// extensionOf reads the error of an Extend.
func extensionOf(err error) extension {
	switch {
	case err == nil:
		return extendOK
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrMaxHold), errors.Is(err, lock.ErrNotHeld):
		return extendLost
	case errors.Is(err, lock.ErrReleased), errors.Is(err, lock.ErrClosed):
		return extendOvertaken
	default:
		return extendError
	}
}

// loss indexes the values of the label reason of lost_total.
type loss int

const (
	expired loss = iota
	takenOver
	extendFailed
	maxHold
	losses
)

var lossNames = [losses]string{"expired", "taken_over", "extend_failed", "max_hold"}

func (l loss) String() string { return lossNames[l] }

// series is everything that is counted for one value of the resource label. It is
// looked up once per Acquire; all of it exists from the first on, so that a rate
// is there before the first event.
type series struct {
	label    string
	reserved bool         // never let go
	users    atomic.Int64 // calls that have not ended, and leases that have not
	usedAt   atomic.Int64 // in nanoseconds since 1970, to the second

	base     *series                 // of the resource without such values; nil for that itself
	variants map[labelValues]*series // of a base, with the mutex of the metrics held

	wait, hold, validity      prometheus.Observer
	failures, attempts        prometheus.Counter
	handOvers, deadlocks      prometheus.Counter
	releaseFailures, longWait prometheus.Counter
	waiting                   waiting
	held                      holding
	outcomes                  [outcomes]prometheus.Counter
	extensions                [extensions]prometheus.Counter
	lost                      [losses]prometheus.Counter
}

// newSeries is of a value of the label resource, with those of the labels of WithLabels.
func (m *metrics) newSeries(label string, v labelValues) *series {
	values := slices.Clip(append([]string{label}, v[:len(m.callLabels.names)]...))
	s := &series{
		label:           label,
		wait:            m.wait.WithLabelValues(values...),
		hold:            m.hold.WithLabelValues(values...),
		validity:        m.validity.WithLabelValues(values...),
		failures:        m.failures.WithLabelValues(values...),
		attempts:        m.attempts.WithLabelValues(values...),
		handOvers:       m.handOvers.WithLabelValues(values...),
		deadlocks:       m.deadlocks.WithLabelValues(values...),
		releaseFailures: m.releaseFailures.WithLabelValues(values...),
		longWait:        m.longWait.WithLabelValues(values...),
		waiting: waiting{
			count: m.waiting.WithLabelValues(values...), since: m.waitingSince.WithLabelValues(values...),
			aboveObjective: m.waitingAbove.WithLabelValues(values...), withoutAQuorum: m.waitingStalled.WithLabelValues(values...),
		},
		held: holding{count: m.held.WithLabelValues(values...), since: m.heldSince.WithLabelValues(values...)},
	}
	for i := range s.outcomes {
		s.outcomes[i] = m.acquisitions.WithLabelValues(append(values, outcomeNames[i])...)
	}
	for i := range s.extensions {
		s.extensions[i] = m.extensions.WithLabelValues(append(values, extensionNames[i])...)
	}
	for i := range s.lost {
		s.lost[i] = m.lost.WithLabelValues(append(values, lossNames[i])...)
	}
	return s
}
