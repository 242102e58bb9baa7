package metrics

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
)

// series has everything that is counted for one value of the resource label. It is looked up once per Acquire. All of
// it exists from the first call on, so that a rate exists before the first event.
type series struct {
	label    string
	reserved bool         // never let go
	users    atomic.Int64 // calls that have not ended, and leases that have not
	usedAt   atomic.Int64 // in nanoseconds since 1970, to the second

	lines    *lines                  // of the base, and its variants
	base     *series                 // of the resource without such values; nil for that itself
	variants map[labelValues]*series // of a base, with the mutex of the set held

	wait, hold, validity      prometheus.Observer
	failures, attempts        prometheus.Counter
	handOvers, deadlocks      prometheus.Counter
	releaseFailures, longWait prometheus.Counter
	polled                    prometheus.Counter
	waiting                   waiting
	held                      heldLeases
	outcomes                  [outcome.Acquisitions]prometheus.Counter
	extensions                [outcome.Extensions]prometheus.Counter
	lost                      [outcome.Losses]prometheus.Counter
	classes                   classes
	adoption                  adoption
	blame                     *blame              // of all resources
	margin                    prometheus.Observer // of all resources
	constructs                constructs

	catalogue *catalogue
	values    []string // of the labels: the resource, and those of calls
}

// with returns the values of the labels, and those of further ones.
func (s *series) with(more ...string) []string { return append(s.values, more...) }

// newSeries makes the series of a value of the label resource, with the values of the labels of calls.
func newSeries(c *catalogue, label string, more ...string) *series {
	values := slices.Clip(append([]string{label}, more...))
	s := &series{
		label: label, catalogue: c, values: values,
		wait:            c.wait.WithLabelValues(values...),
		hold:            c.hold.WithLabelValues(values...),
		validity:        c.validity.WithLabelValues(values...),
		failures:        c.failures.WithLabelValues(values...),
		attempts:        c.attempts.WithLabelValues(values...),
		handOvers:       c.handOvers.WithLabelValues(values...),
		deadlocks:       c.deadlocks.WithLabelValues(values...),
		releaseFailures: c.releaseFailures.WithLabelValues(values...),
		longWait:        c.longWait.WithLabelValues(values...),
		polled:          c.polled.WithLabelValues(values...),
		waiting: waiting{
			count: c.waiting.WithLabelValues(values...), since: c.waitingSince.WithLabelValues(values...),
			aboveObjective: c.waitingAbove.WithLabelValues(values...),
			withoutAQuorum: c.waitingStalled.WithLabelValues(values...),
		},
		adoption: adoption{
			outlived: c.outlived.WithLabelValues(values...), closeCalls: c.closeCalls.WithLabelValues(values...),
			unfenced: c.unfenced.WithLabelValues(values...),
		},
		blame: c.blame, margin: c.margin, lines: new(lines),
		held: heldLeases{count: c.held.WithLabelValues(values...), since: c.heldSince.WithLabelValues(values...)},
	}
	for i := range s.outcomes {
		s.outcomes[i] = c.acquisitions.WithLabelValues(append(values, outcome.Acquisition(i).String())...)
	}
	for i := range s.extensions {
		s.extensions[i] = c.extensions.WithLabelValues(append(values, outcome.Extension(i).String())...)
	}
	for i := range s.lost {
		s.lost[i] = c.lost.WithLabelValues(append(values, outcome.Loss(i).String())...)
	}
	for i, class := range waitClasses {
		s.classes[i] = c.waitClass.WithLabelValues(append(values, string(class))...)
	}
	return s
}

// use counts a call that needs the series; done must follow.
func (s *series) use(now time.Time) *series {
	s.users.Add(1)
	s.touch(now)
	return s
}

func (s *series) done() {
	s.touch(time.Now())
	s.users.Add(-1)
	if s.base != nil {
		s.base.done()
	}
}

// touch writes at most once a second, because many cores use a busy resource.
func (s *series) touch(now time.Time) {
	if at := now.UnixNano(); at-s.usedAt.Load() > int64(time.Second) {
		s.usedAt.Store(at)
	}
}

// unusedSince reports whether nobody uses the series now or has since then.
func (s *series) unusedSince(before int64) bool {
	return s.users.Load() <= 0 && s.usedAt.Load() <= before
}
