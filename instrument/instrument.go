package instrument

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Locker measures a lock.Locker. Its zero value is not usable: see Wrap. It is
// safe for concurrent use.
type Locker struct {
	next     lock.Locker
	metrics  *metrics
	label    func(string) string
	longWait time.Duration
	tracing  *tracing  // nil if tracing is off
	log      *logQueue // nil if nobody listens
	waits    *waitLog  // nil if nobody listens
	layer    *decorate.Layer
}

var (
	_ lock.Locker          = (*Locker)(nil)
	_ prometheus.Collector = (*Locker)(nil)
)

// Wrap returns a Locker that behaves as next does and measures it.
//
// It fails with ErrInvalidOption for a nil next, a nil option or a value that is
// not usable, and with the registry's error if another collector has taken one of
// the metrics' names.
func Wrap(next lock.Locker, opts ...Option) (*Locker, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to wrap is nil", ErrInvalidOption)
	}
	m, err := register(cfg.registerer, newMetrics(cfg.shared))
	if err != nil {
		return nil, err
	}
	m.reserve(cfg.resources)
	l := &Locker{next: next, metrics: m, label: cfg.label, longWait: cfg.longWait}
	l.log = newLogQueue(cfg.logger, cfg.logInterval, m.panics)
	l.waits = newWaitLog(cfg)
	l.tracing = l.newTracing(cfg)
	l.layer = decorate.NewLayer(l.newHooks(), addsToCalls)
	return l, nil
}

// Describe implements prometheus.Collector.
func (l *Locker) Describe(ch chan<- *prometheus.Desc) { l.metrics.Describe(ch) }

// Collect implements prometheus.Collector.
func (l *Locker) Collect(ch chan<- prometheus.Metric) { l.metrics.Collect(ch) }

// Flush waits until the log handler was given every record so far, or ctx ends,
// whose error it then returns. A program calls it before it exits; the decorator
// goes on working afterwards.
func (l *Locker) Flush(ctx context.Context) error {
	if l.log == nil {
		return nil
	}
	return l.log.flush(ctx)
}

// Acquire implements lock.Locker: it returns what the wrapped Locker returns, and
// a lease that is measured until its release or its loss.
func (l *Locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	// One allocation for the context next gets and the lease that may come of it.
	m := &lease{call: call{owner: l, resource: resource, began: time.Now()}}
	c := &m.call
	c.Start(ctx, l.layer, c)
	c.series = l.seriesOf(resource, c.began)
	if len(l.metrics.callLabels.names) > 0 {
		c.series = l.metrics.useCallLabels(ctx, c.series, c.began)
	}
	c.series.waiting.add(m)
	returned := false
	defer func() {
		if !returned {
			m.panicked()
		}
	}()
	if l.tracing != nil && l.keepsSpans(ctx, resource) {
		l.startAcquire(c, opts)
	}
	inner, err := l.next.Acquire(c, resource, opts...)
	returned = true
	c.series.waiting.remove(m)
	if err != nil || inner == nil {
		l.failed(c, err, opts)
		return nil, err
	}
	l.acquired(m, inner)
	return m, nil
}

// acquired measures a success.
func (l *Locker) acquired(m *lease, inner lock.Lease) {
	c := &m.call
	m.waited = time.Since(c.began)
	m.Begin(&c.Call, inner, m)
	c.series.outcomes[acquired].Inc()
	c.series.held.add(m)
	validity := time.Duration(c.validity.Load())
	if validity == 0 { // no hook has told
		validity = inner.Remaining()
	}
	c.series.validity.Observe(max(0, validity.Seconds()))
	observe(c.series.wait, m.waited, c.spanContext())
	l.finish(c, acquired, validity, nil, false)
	m.Watch()
}

// failed measures a failure; a NoWait call that finds the lock held is none.
func (l *Locker) failed(c *call, err error, opts []lock.AcquireOption) {
	out := outcomeOf(err)
	failure := out != contended || !c.NoWait(opts)
	c.series.outcomes[out].Inc()
	if failure {
		c.series.failures.Inc()
	}
	observe(c.series.wait, time.Since(c.began), c.spanContext())
	l.finish(c, out, 0, err, failure)
	if quorum, ok := errors.AsType[*lock.QuorumError](err); ok {
		l.logNoQuorum(c, quorum)
	}
}

// finish ends what began with the call: timer and span.
func (l *Locker) finish(c *call, out outcome, validity time.Duration, err error, failure bool) {
	c.stopLongWait()
	if out != acquired { // else with the end of the lease
		defer c.series.done()
	}
	if c.span != nil {
		l.endAcquire(c, out, validity, err, failure)
	}
}

// panicked is the end of a call that does not return: of a Locker that panics, or ends its goroutine.
func (m *lease) panicked() {
	c := &m.call
	c.series.waiting.remove(m)
	c.stopLongWait()
	c.series.done()
	if c.span != nil {
		c.span.End()
	}
}

// contain keeps a panic of somebody who observes from reaching those who lock.
// It must be deferred itself.
func (l *Locker) contain() {
	if recover() != nil {
		l.metrics.panics.Inc()
	}
}
