package instrument

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/instrument/internal/logs"
	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/outage"
)

// Locker measures a lock.Locker. Its zero value is not usable: see Wrap. It is safe for concurrent use.
type Locker struct {
	next lock.Locker
	*observers
}

var (
	_ lock.Locker          = (*Locker)(nil)
	_ prometheus.Collector = (*Locker)(nil)
)

// Wrap returns a Locker that behaves as next does and measures it.
//
// It returns ErrInvalidOption for a nil next, a nil option and an unusable value. If another collector already uses
// the name of a metric, it returns the registry's error.
func Wrap(next lock.Locker, opts ...Option) (*Locker, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to wrap is nil", ErrInvalidOption)
	}
	m, err := register(cfg.registerer, cfg.shared)
	if err != nil {
		return nil, err
	}
	m.Reserve(cfg.resources)
	o := newObservers(cfg, m)
	o.layer = decorate.NewLayer(hooks{o}.trace(), addsToCalls)
	return &Locker{next: next, observers: o}, nil
}

// measures implements measurer.
func (l *Locker) measures() *metrics.Metrics { return l.metrics }

// Describe implements prometheus.Collector.
func (l *Locker) Describe(ch chan<- *prometheus.Desc) { l.metrics.Describe(ch) }

// Collect implements prometheus.Collector.
func (l *Locker) Collect(ch chan<- prometheus.Metric) { l.metrics.Collect(ch) }

// Flush waits until the log handler has received every record so far. If ctx ends first, it returns the error of ctx.
// Call it before the program exits. The decorator goes on working afterwards.
func (l *Locker) Flush(ctx context.Context) error {
	return l.log.Flush(ctx)
}

// Acquire implements lock.Locker. It returns what the wrapped Locker returns, and measures the lease until its
// release or its loss.
func (l *Locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	// One allocation for the context next gets and the lease that may come of it.
	m := &lease{call: call{observers: l.observers}}
	c := &m.call
	c.Start(ctx, l.layer, c)
	name := label.Name(resource, func() lock.Kind { return lock.NewAcquireOptions(opts...).Kind })
	l.metrics.Begin(ctx, &c.counted, resource, name, l.owner)
	returned := false
	defer func() {
		if !returned {
			c.abandoned()
		}
	}()
	c.Context = l.spans.StartAcquire(ctx, &c.traced, resource, opts)
	inner, err := l.next.Acquire(c, resource, opts...)
	returned = true
	c.counted.Returned()
	if err != nil || inner == nil {
		c.failed(err, opts)
		return nil, err
	}
	m.acquired(inner)
	return m, nil
}

// Unprotected counts and logs work that runs without a lock. It is the Report of [outage.Wrap]; the call itself is counted
// as one that failed.
func (l *Locker) Unprotected(ctx context.Context, r outage.Run) {
	of := logs.Subject{Context: ctx, Resource: r.Resource, Label: l.metrics.Unprotected(r.Resource, l.owner)}
	l.log.Unprotected(of, r.Err)
}
