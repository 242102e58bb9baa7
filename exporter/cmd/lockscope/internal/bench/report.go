package bench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/lock/engine"
)

// Kinds of measurements.
const (
	kindPair    = "pair"
	kindHandOff = "hand-off"
)

// row is one measurement.
type row struct {
	kind               string
	callers, processes int
	hung               string // the node that hung; "" for none
	sample
}

// report is what was measured.
type report struct {
	bench *bench
	rows  []row
	left  leftovers
}

func newReport(b *bench) *report { return &report{bench: b} }

// add takes a measurement. It fails if there is no point in going on.
func (r *report) add(ctx context.Context, kind string, callers, processes int, hung string, s sample) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.rows = append(r.rows, row{kind, callers, processes, hung, s})
	if len(s.took) == 0 && hung == "" {
		return fmt.Errorf("%s with %s: no call succeeded within %v: %w", kind, output.Count(callers, "caller"), s.ran,
			cmp.Or(s.err, s.cut))
	}
	return nil
}

// failed is the number of calls that failed.
func (r *report) failed() (n int) {
	for _, m := range r.rows {
		n += m.sample.failed
	}
	return n
}

// leftError reports what the bench left behind; nil without a report, since nothing was measured then.
func (r *report) leftError() error {
	if r == nil {
		return nil
	}
	return r.left.err()
}

const (
	// slack is how many times the slowest one in a hundred pairs fits into the node timeout.
	slack = 5
	// timeoutsPerTTL is the ratio of the engine's default.
	timeoutsPerTTL = 20
)

// proposal is a TTL and a node timeout for these servers.
type proposal struct {
	TTL         time.Duration
	NodeTimeout time.Duration
	Slowest     time.Duration // the largest p99 of a pair
}

// propose keeps the TTL and the engine's node timeout for it, unless these servers are too slow for them.
func (r *report) propose() (p proposal, ok bool) {
	for _, m := range r.rows {
		if m.kind == kindPair && m.hung == "" {
			p.Slowest = max(p.Slowest, m.quantile(99))
		}
	}
	need := roundUp(slack * p.Slowest)
	p.TTL = max(r.bench.ttl, timeoutsPerTTL*need)
	p.NodeTimeout = max(engine.DefaultNodeTimeout(p.TTL), need)
	return p, p.Slowest > 0
}

// roundUp is the next of 1, 2, 5, 10 and so on milliseconds.
func roundUp(d time.Duration) time.Duration {
	for step := time.Millisecond; ; step *= 10 {
		for _, factor := range []time.Duration{1, 2, 5} {
			if d <= factor*step {
				return factor * step
			}
		}
	}
}
