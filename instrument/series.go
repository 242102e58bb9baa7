package instrument

import (
	"errors"
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
	extensions
)

var extensionNames = [extensions]string{"ok", "lost", "error"}

func (e extension) String() string { return extensionNames[e] }

// extensionOf reads the error of an Extend.
func extensionOf(err error) extension {
	switch {
	case err == nil:
		return extendOK
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrMaxHold), errors.Is(err, lock.ErrNotHeld):
		return extendLost
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

	wait, hold, validity      prometheus.Observer
	failures, attempts        prometheus.Counter
	handOvers, deadlocks      prometheus.Counter
	releaseFailures, longWait prometheus.Counter
	waiting, held             prometheus.Gauge
	outcomes                  [outcomes]prometheus.Counter
	extensions                [extensions]prometheus.Counter
	lost                      [losses]prometheus.Counter
}

func (m *metrics) newSeries(label string) *series {
	s := &series{
		label:           label,
		wait:            m.wait.WithLabelValues(label),
		hold:            m.hold.WithLabelValues(label),
		validity:        m.validity.WithLabelValues(label),
		failures:        m.failures.WithLabelValues(label),
		attempts:        m.attempts.WithLabelValues(label),
		handOvers:       m.handOvers.WithLabelValues(label),
		deadlocks:       m.deadlocks.WithLabelValues(label),
		releaseFailures: m.releaseFailures.WithLabelValues(label),
		longWait:        m.longWait.WithLabelValues(label),
		waiting:         m.waiting.WithLabelValues(label),
		held:            m.held.WithLabelValues(label),
	}
	for i := range s.outcomes {
		s.outcomes[i] = m.acquisitions.WithLabelValues(label, outcomeNames[i])
	}
	for i := range s.extensions {
		s.extensions[i] = m.extensions.WithLabelValues(label, extensionNames[i])
	}
	for i := range s.lost {
		s.lost[i] = m.lost.WithLabelValues(label, lossNames[i])
	}
	return s
}
