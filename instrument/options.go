package instrument

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
)

// Defaults of Wrap.
const (
	// DefaultMaxResources is how many values the resource label may take. A value
	// costs some 60 series.
	DefaultMaxResources = 100
	// DefaultIdleResources is how long a value of the resource label is kept without a call.
	DefaultIdleResources = time.Hour
	// DefaultSlowNode is from when on a node's answer to a release or a renewal is worth
	// a span.
	DefaultSlowNode = 50 * time.Millisecond
	// DefaultWaitObjective is how long an acquire may wait for, as in the shipped rules.
	DefaultWaitObjective = 500 * time.Millisecond
	// DefaultLongWait is after how long a wait is told to the logger.
	DefaultLongWait = 5 * time.Second
	// DefaultLogInterval is how often the logger is told of the same.
	DefaultLogInterval = 5 * time.Second
)

// ErrInvalidOption says that an option's value is not usable. Wrap wraps it.
var ErrInvalidOption = errors.New("instrument: invalid option")

// shared is what decorators on one registry must agree about.
type shared struct {
	metrics.Settings
	given givenOptions
}

// givenOptions are those that were not left out.
type givenOptions int

const (
	givenMaxResources givenOptions = 1 << iota
	givenIdleResources
	givenNative
	givenWaitObjective
)

// NodeSpans says which commands on nodes get a span of their own.
type NodeSpans int

// The choices of WithNodeSpans.
const (
	// NodeSpansVotes are those of acquires, which decide who has the lock, and of the
	// others those that failed or were slow.
	NodeSpansVotes = NodeSpans(spans.NodesVotes)
	NodeSpansAll   = NodeSpans(spans.NodesAll)
	// NodeSpansNone is for Redis clients that trace their commands themselves.
	NodeSpansNone = NodeSpans(spans.NodesNone)
)

type config struct {
	shared
	registerer     prometheus.Registerer
	tracerProvider trace.TracerProvider
	logger         *slog.Logger
	label          func(string) string
	resources      []string
	nodeSpans      NodeSpans
	slowNode       time.Duration
	spanAttributes []attribute.KeyValue
	spanFilter     func(ctx context.Context, resource string) bool
	longWait       time.Duration
	logInterval    time.Duration
}

// Option configures Wrap.
type Option func(*config)

// WithRegisterer registers the metrics. Decorators that register with the same
// registry share one set of metrics. Those that are given WithMaxResources, WithIdleResources,
// WithWaitObjective or WithNativeHistograms must agree with the first: Wrap fails with ErrInvalidOption
// if not. Without this option, and with nil, nothing is registered; register the Locker itself then, or let it be.
func WithRegisterer(r prometheus.Registerer) Option { return func(c *config) { c.registerer = r } }

// WithTracerProvider sets where spans go. Without it, and with nil, that is the
// global provider of OpenTelemetry, also if it is set later. With the provider of
// package go.opentelemetry.io/otel/trace/noop, tracing is off and costs nothing.
//
// Span processors run inside of Acquire, Extend and Release and must not block.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) { c.tracerProvider = p }
}

// WithLogger sets who is told of lost leases, failed renewals, missing quorums,
// long waits and releases that came too late. Without it, and with nil, nobody
// is. Records are handled one by one in the background; if the handler cannot
// keep up, records are dropped and the next one says how many. See WithLogInterval.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithResourceLabel computes the resource label from the resource name, instead
// of folding what looks like an id to "*". It is called in every Acquire. The
// number of values stays bounded by WithMaxResources. It is not asked about the names of WithResources, nor
// about those no lock can have, which are counted as "invalid". If it panics or returns "",
// the label is what it would have been without it; bytes that are not UTF-8 are
// replaced, and 128 bytes is the most that is used. nil is ignored.
func WithResourceLabel(label func(resource string) string) Option {
	return func(c *config) { c.label = label }
}

// WithMaxResources sets how many values the resource label may take at a time, beside those
// of WithResources, before further ones become "other". Zero makes all of them "other"; a
// negative n makes Wrap fail.
func WithMaxResources(n int) Option {
	return func(c *config) { c.MaxResources, c.given = n, c.given|givenMaxResources }
}

// WithResources reserves values of the resource label: a resource of one of these names is counted
// under it, neither folded nor ever "other", and its series exist from the start. Names add up
// over several uses, and over the decorators on one registry. A name that no lock can have makes
// Wrap fail.
func WithResources(names ...string) Option {
	return func(c *config) { c.resources = append(c.resources, names...) }
}

// WithLabels adds labels, at most MaxLabels, to the metrics that have the label resource: the tier of a
// tenant, a kind of job. Their values come from the contexts of the calls, by ContextWithLabel; where
// there is none the label is empty. Each takes MaxLabelValues values at a time, further ones are counted
// as "other", and the calls in distributed_lock_label_overflow_total; a value without a call for the
// time of WithIdleResources is let go when metrics are collected. Each value of each resource costs some
// 60 series, and there are at most 2000 of them. A name that is no label, or taken, makes Wrap fail with
// ErrInvalidOption. All decorators on one registry must be given the same: Wrap fails with the registry's error if
// not.
func WithLabels(names ...string) Option {
	return func(c *config) { c.Labels = append(c.Labels[:len(c.Labels):len(c.Labels)], names...) }
}

// WithIdleResources sets after how long without a call or a lease the series of a resource label
// are deleted, and its slot is free for another. Its counters begin at zero if it comes back, as
// those of a process that has started again. Zero or less keeps them for ever. The default is
// DefaultIdleResources; those of WithResources stay.
func WithIdleResources(d time.Duration) Option {
	return func(c *config) { c.IdleResources, c.given = d, c.given|givenIdleResources }
}

// WithNativeHistograms adds native histograms to the classic buckets, with growth
// factor 1.1 and at most 100 buckets each.
func WithNativeHistograms() Option {
	return func(c *config) { c.Native, c.given = true, c.given|givenNative }
}

// WithNodeSpans says which commands on nodes get a span, instead of NodeSpansVotes.
func WithNodeSpans(which NodeSpans) Option { return func(c *config) { c.nodeSpans = which } }

// WithSlowNode sets from when on a command on a node is slow for NodeSpansVotes, instead
// of DefaultSlowNode.
func WithSlowNode(d time.Duration) Option { return func(c *config) { c.slowNode = d } }

// WithSpanAttributes adds attributes to the spans lock.acquire, lock.extend and
// lock.release, for samplers to see; see ContextWithAttributes for those of a call. Metrics have
// labels of their own, which are bounded: see WithResourceLabel and WithLabels.
func WithSpanAttributes(attrs ...attribute.KeyValue) Option {
	return func(c *config) { c.spanAttributes = append(c.spanAttributes, attrs...) }
}

// WithSpanFilter says for each Acquire whether it, its nodes, and the renewals and
// the release of its lease get spans. Metrics and logs go on without. If it panics
// they get them. nil is ignored.
func WithSpanFilter(keep func(ctx context.Context, resource string) bool) Option {
	return func(c *config) { c.spanFilter = keep }
}

// WithWaitObjective sets from when on a wait under way counts in distributed_lock_waiting_above_objective
// and distributed_lock_waiting_without_quorum. Give it the within_seconds of the rules, if that is not
// DefaultWaitObjective. Zero or less makes Wrap fail.
func WithWaitObjective(d time.Duration) Option {
	return func(c *config) { c.WaitObjective, c.given = d, c.given|givenWaitObjective }
}

// WithLongWait sets after how long a wait is logged and counted as long, while it
// still goes on. Zero or less switches that off.
func WithLongWait(d time.Duration) Option { return func(c *config) { c.longWait = d } }

// WithLogInterval sets how often the logger is told of the same: a record is left out if one
// with its message and reason, about the same resource label or node, was less than d ago.
// The next that passes says in left_out how many were. The first of a kind is never left
// out, nor dropped. Zero or less tells of everything. The default is DefaultLogInterval.
func WithLogInterval(d time.Duration) Option { return func(c *config) { c.logInterval = d } }

func newConfig(opts []Option) (config, error) {
	c := config{
		shared: shared{Settings: metrics.Settings{
			MaxResources: DefaultMaxResources, IdleResources: DefaultIdleResources, WaitObjective: DefaultWaitObjective,
		}},
		slowNode: DefaultSlowNode, longWait: DefaultLongWait, logInterval: DefaultLogInterval,
	}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.WaitObjective <= 0 {
		return c, fmt.Errorf("%w: WithWaitObjective(%v): must be positive", ErrInvalidOption, c.WaitObjective)
	}
	if c.MaxResources < 0 {
		return c, fmt.Errorf("%w: WithMaxResources(%d): must not be negative", ErrInvalidOption, c.MaxResources)
	}
	for _, name := range c.resources {
		if err := lock.ValidateResource(name); err != nil {
			return c, fmt.Errorf("%w: WithResources(%q): %w", ErrInvalidOption, name, err)
		}
	}
	if err := checkLabels(c.Labels); err != nil {
		return c, err
	}
	if c.nodeSpans < NodeSpansVotes || c.nodeSpans > NodeSpansNone {
		return c, fmt.Errorf("%w: WithNodeSpans(%d): use NodeSpansVotes, NodeSpansAll or NodeSpansNone",
			ErrInvalidOption, c.nodeSpans)
	}
	return c, nil
}

func checkLabels(names []string) error {
	if len(names) > MaxLabels {
		return fmt.Errorf("%w: WithLabels: %d labels, at most %d allowed", ErrInvalidOption, len(names), MaxLabels)
	}
	for i, name := range names {
		if !metrics.UsableLabel(name, names[:i]) {
			return fmt.Errorf("%w: WithLabels(%q): use letters, digits and '_', and a name that no other label has",
				ErrInvalidOption, name)
		}
	}
	return nil
}
