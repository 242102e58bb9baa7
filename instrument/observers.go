package instrument

import (
	"github.com/lockscope/lockscope/instrument/internal/logs"
	"github.com/lockscope/lockscope/instrument/internal/longwait"
	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock/decorate"
)

// observers measure a Locker.
type observers struct {
	metrics *metrics.Metrics
	panics  metrics.Panics
	owner   *metrics.Owner
	spans   *spans.Tracer // nil if tracing is off
	log     *logs.Log     // nil if nobody listens
	waits   *longwait.Watch
	layer   *decorate.Layer
}

func newObservers(cfg config, m *metrics.Metrics) *observers {
	o := &observers{
		metrics: m, panics: m.Panics(), owner: new(metrics.Owner),
		log:   logs.New(cfg.logger, cfg.logInterval, m.Panics()),
		waits: longwait.New(cfg.longWait, cfg.logger != nil),
		spans: spans.New(spans.Config{
			Provider: cfg.tracerProvider, Nodes: spans.Nodes(cfg.nodeSpans), SlowNode: cfg.slowNode,
			Attributes: cfg.spanAttributes, Filter: cfg.spanFilter, Panics: m.Panics(),
		}),
	}
	if cfg.label != nil {
		o.owner.Label = func(resource string) (label string) { // "" if the user's function panics
			defer o.panics.Contain()
			return cfg.label(resource)
		}
	}
	return o
}
