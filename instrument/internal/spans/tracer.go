// Package spans makes the spans that the documentation of package instrument describes: of acquires, of later calls
// on their leases, and of commands on nodes. It describes a call or a command only if its span is recorded.
package spans

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	module    = "github.com/lockscope/lockscope"
	scopeName = module + "/instrument"
)

// Nodes selects the commands on nodes that get a span.
type Nodes int

// The choices.
const (
	NodesVotes Nodes = iota // those of acquires, and of the others those that failed or were slow
	NodesAll
	NodesNone
)

// Panics keeps the panics of observers from callers that lock. Contain recovers one, and must be deferred itself.
type Panics interface{ Contain() }

// Config configures spans.
type Config struct {
	Provider   trace.TracerProvider // nil: the global one
	Nodes      Nodes
	SlowNode   time.Duration // from when on a command on a node is slow
	Attributes []attribute.KeyValue
	Filter     func(ctx context.Context, resource string) bool // nil: all calls get spans
	Panics     Panics
}

// Tracer makes the spans of one decorator. A nil Tracer makes none. It is safe for concurrent use.
type Tracer struct {
	cfg    Config
	tracer trace.Tracer
	static []trace.SpanStartOption // of lock.* spans

	mu    sync.RWMutex
	nodes map[nodeCommand]*nodeSpanConfig
}

// New returns nil if tracing is off.
func New(cfg Config) (t *Tracer) {
	defer cfg.Panics.Contain()
	p := cfg.Provider
	if p == nil {
		p = otel.GetTracerProvider()
	}
	switch p.(type) {
	case noop.TracerProvider, *noop.TracerProvider:
		return nil
	}
	tracer := p.Tracer(scopeName, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(semconv.SchemaURL))
	if tracer == nil {
		return nil
	}
	t = &Tracer{cfg: cfg, tracer: tracer, nodes: make(map[nodeCommand]*nodeSpanConfig)}
	if len(cfg.Attributes) > 0 {
		t.static = []trace.SpanStartOption{trace.WithAttributes(cfg.Attributes...)}
	}
	return t
}

// Nodes reports whether commands on nodes may have spans, so that StartNode and EndNode are needed.
func (t *Tracer) Nodes() bool { return t != nil && t.cfg.Nodes != NodesNone }

// options are those of a lock.* span, with the attributes for samplers. own are those of the call.
func (t *Tracer) options(own []attribute.KeyValue, attrs ...attribute.KeyValue) []trace.SpanStartOption {
	opts := append(slices.Clip(t.static), trace.WithAttributes(attrs...))
	if len(own) > 0 {
		opts = append(opts, trace.WithAttributes(own...))
	}
	return opts
}

// keeps asks the filter.
func (t *Tracer) keeps(ctx context.Context, resource string) (keep bool) {
	if t.cfg.Filter == nil {
		return true
	}
	keep = true
	defer t.cfg.Panics.Contain()
	return t.cfg.Filter(ctx, resource)
}

// node returns the configuration of a command, because building attributes costs more than starting a span.
func (t *Tracer) node(of nodeCommand) *nodeSpanConfig {
	t.mu.RLock()
	cfg := t.nodes[of]
	t.mu.RUnlock()
	if cfg != nil {
		return cfg
	}
	cfg = newNodeSpanConfig(of)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.nodes) < maxNodeSpanConfigs {
		t.nodes[of] = cfg
	}
	return cfg
}

// version is that of this module in the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}
