package diagnosis

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/engine"
)

const (
	pace         = 20 * time.Millisecond // between the calls of a series
	fewestRounds = 20

	timeoutPerP99 = 2 // a node timeout of less is reported
)

// sampleLatency makes a call again and again for p.For, and for a few rounds at least unless calls fail or are slow.
// Each call has [ReachTimeout]. The end of ctx ends it early and is no failure of the server.
func sampleLatency(ctx context.Context, p Policy, call func(context.Context) error) (l Latency) {
	var samples []sample
	began := time.Now()
	for ctx.Err() == nil && (time.Since(began) < p.For ||
		len(samples) < fewestRounds && l.Err == nil && time.Since(began) < ReachTimeout) {
		sent := time.Now()
		err := within(ctx, call)
		took := time.Since(sent)
		if err != nil {
			if l.Err = err; ctx.Err() != nil {
				break
			}
		}
		samples = append(samples, sample{took, err != nil})
		ui.Pause(ctx, pace)
	}
	for _, s := range samples {
		if !s.failed {
			l.Answered++
		}
	}
	l.fill(withOmitted(samples), p.NodeTimeout)
	return l
}

func within(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ReachTimeout)
	defer cancel()
	return call(ctx)
}

// sample is one call.
type sample struct {
	took   time.Duration
	failed bool
}

// withOmitted adds the calls that were not made because an earlier one had no answer: a stall of 300 ms counts as
// fourteen calls, not as one. What most calls take is no stall.
func withOmitted(samples []sample) []sample {
	took := make([]time.Duration, 0, len(samples))
	for _, s := range samples {
		took = append(took, s.took)
	}
	slices.Sort(took)
	interval := pace + quantile(took, 0.50)
	all := slices.Clone(samples)
	for _, s := range samples {
		for left := s.took - interval; left >= interval; left -= interval {
			all = append(all, sample{left, s.failed})
		}
	}
	return all
}

func (l *Latency) fill(samples []sample, timeout time.Duration) {
	took := make([]time.Duration, 0, len(samples))
	for _, s := range samples {
		if s.failed {
			s.took = max(s.took, timeout)
		}
		if s.failed || s.took > timeout {
			l.Missed++
		}
		took = append(took, s.took)
	}
	slices.Sort(took)
	l.Count = len(took)
	l.P50, l.P99 = quantile(took, 0.50), quantile(took, 0.99)
}

// missedShare is the share of samples that a lock would have counted as failures.
func (l Latency) missedShare() float64 {
	if l.Count == 0 {
		return 0
	}
	return float64(l.Missed) / float64(l.Count)
}

// LeastTimeout is the node timeout that these round trips need: 1 in 100 takes half of it. It is zero if a call failed,
// which would have taken nobody knows how long.
func (l Latency) LeastTimeout() time.Duration {
	if l.Answered == 0 || l.Err != nil {
		return 0
	}
	return max(engine.MinNodeTimeout, timeoutPerP99*l.P99)
}

// quantile of a sorted slice; zero of an empty one.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Sample is one TIME: what the server said, and between which instants by this
// machine's monotonic clock it said so. All are since the same wall-clock instant.
type Sample struct {
	Server       time.Duration
	Sent, Gotten time.Duration
}

func (s Sample) offset() time.Duration { return s.Server - (s.Sent+s.Gotten)/2 }

// doubt is the largest error of offset: the server read its clock somewhere
// between sending and receiving.
func (s Sample) doubt() time.Duration { return (s.Gotten - s.Sent) / 2 }

// Measure compares the best samples of the first and the last third: the ones
// with the shortest round trip, whose offsets are known best.
func Measure(samples []Sample) Clock {
	n := len(samples)
	if n == 0 {
		return Clock{}
	}
	best := shortest(samples)
	c := Clock{Samples: n, Offset: best.offset(), OffsetError: best.doubt()}
	third := max(1, n/3)
	early, late := shortest(samples[:third]), shortest(samples[n-third:])
	span := (late.Sent+late.Gotten)/2 - (early.Sent+early.Gotten)/2
	if span <= 0 {
		c.DriftError = 1
		return c
	}
	c.Drift = float64(late.offset()-early.offset()) / float64(span)
	c.DriftError = float64(late.doubt()+early.doubt()) / float64(span)
	return c
}

func shortest(samples []Sample) Sample {
	best := samples[0]
	for _, s := range samples[1:] {
		if s.doubt() < best.doubt() {
			best = s
		}
	}
	return best
}

// sampleClock samples latency, and the clock of a server that tells the time with its answer.
func sampleClock(ctx context.Context, p Policy, ask func(context.Context) (time.Time, error)) (Clock, Latency) {
	began := time.Now()
	var samples []Sample
	l := sampleLatency(ctx, p, func(ctx context.Context) error {
		sent := time.Since(began)
		now, err := ask(ctx)
		if err == nil && !now.IsZero() {
			samples = append(samples, Sample{Server: now.Sub(began.Round(0)), Sent: sent, Gotten: time.Since(began)})
		}
		return err
	})
	return Measure(samples), l
}
