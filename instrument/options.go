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
)

// Defaults of Wrap.
const (
	// DefaultMaxResources is how many values the resource label may take. A value
	// costs some 60 series.
	DefaultMaxResources = 100
	// DefaultSlowNode is from when on a node's answer to a release or a renewal is worth
	// a span.
	DefaultSlowNode = 50 * time.Millisecond
	// DefaultLongWait is after how long a wait is told to the logger.
	DefaultLongWait = 5 * time.Second
	// DefaultLogInterval is how often the logger is told of the same.
	DefaultLogInterval = 5 * time.Second
)

// ErrInvalidOption says that an option's value is not usable. Wrap wraps it.
var ErrInvalidOption = errors.New("instrument: invalid option")

type config struct {
	registerer     prometheus.Registerer
	tracerProvider trace.TracerProvider
	logger         *slog.Logger
	label          func(string) string
	maxResources   int
	native         bool
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
// registry share one set of metrics: the first one's, with its MaxResources and
// its kind of histograms. Without this option, and with nil, nothing is
// registered; register the Locker itself then, or let it be.
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
// number of values stays bounded by WithMaxResources. If it panics or returns "",
// the label is what it would have been without it; bytes that are not UTF-8 are
// replaced, and 128 bytes is the most that is used. nil is ignored.
func WithResourceLabel(label func(resource string) string) Option {
	return func(c *config) { c.label = label }
}

// WithMaxResources sets how many values the resource label may take before
// further ones become "other". Zero makes all of them "other"; a negative n makes
// Wrap fail.
func WithMaxResources(n int) Option { return func(c *config) { c.maxResources = n } }

// WithNativeHistograms adds native histograms to the classic buckets, with growth
// factor 1.1 and at most 100 buckets each.
func WithNativeHistograms() Option { return func(c *config) { c.native = true } }

// WithNodeSpans says which commands on nodes get a span, instead of NodeSpansVotes.
func WithNodeSpans(which NodeSpans) Option { return func(c *config) { c.nodeSpans = which } }

// WithSlowNode sets from when on a command on a node is slow for NodeSpansVotes, instead
// of DefaultSlowNode.
func WithSlowNode(d time.Duration) Option { return func(c *config) { c.slowNode = d } }

// WithSpanAttributes adds attributes to the spans lock.acquire, lock.extend and
// lock.release, for samplers to see. Metrics have labels of their own, which are
// bounded: see WithResourceLabel.
func WithSpanAttributes(attrs ...attribute.KeyValue) Option {
	return func(c *config) { c.spanAttributes = append(c.spanAttributes, attrs...) }
}

// WithSpanFilter says for each Acquire whether it, its nodes, and the renewals and
// the release of its lease get spans. Metrics and logs go on without. If it panics
// they get them. nil is ignored.
func WithSpanFilter(keep func(ctx context.Context, resource string) bool) Option {
	return func(c *config) { c.spanFilter = keep }
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
	c := config{maxResources: DefaultMaxResources, slowNode: DefaultSlowNode, longWait: DefaultLongWait, logInterval: DefaultLogInterval}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.maxResources < 0 {
		return c, fmt.Errorf("%w: WithMaxResources(%d) is negative", ErrInvalidOption, c.maxResources)
	}
	if c.nodeSpans < NodeSpansVotes || c.nodeSpans > NodeSpansNone {
		return c, fmt.Errorf("%w: WithNodeSpans(%d): NodeSpansVotes, NodeSpansAll or NodeSpansNone is expected", ErrInvalidOption, c.nodeSpans)
	}
	return c, nil
}
