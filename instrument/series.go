package instrument

import (
	"errors"

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
	label                     string
	wait, hold, validity      prometheus.Observer
	failures, attempts        prometheus.Counter
	handOvers                 prometheus.Counter
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

// seriesOf finds the series of a label as it comes from folding, before it is
// made valid UTF-8. The look-up does not allocate.
func (m *metrics) seriesOf(label []byte) *series {
	m.mu.RLock()
	s, other := m.byLabel[string(label)], m.other
	full := len(m.byLabel) >= m.limit
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	if !full || other == nil {
		s, other = m.addSeries(string(label))
		if s != nil {
			return s
		}
	}
	m.overflow.Inc()
	return other
}

// addSeries returns the label's series, or the one to use because there are too many.
func (m *metrics) addSeries(label string) (s, other *series) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s = m.byLabel[label]; s != nil {
		return s, nil
	}
	if len(m.byLabel) < m.limit {
		s = m.newSeries(validLabel(label))
		m.byLabel[label] = s
		return s, nil
	}
	if m.other == nil {
		m.other = m.newSeries(otherLabel)
	}
	return nil, m.other
}
