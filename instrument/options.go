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
	// DefaultMaxResources is how many values the resource label may have. A value costs some 60 series.
	DefaultMaxResources = 100
	// DefaultIdleResources is how long a value of the resource label is kept without a call.
	DefaultIdleResources = time.Hour
	// DefaultSlowNode is the duration from which a node's answer to a release or a renewal gets a span.
	DefaultSlowNode = 50 * time.Millisecond
	// DefaultWaitObjective is the longest wait that meets the objective, as in the shipped rules.
	DefaultWaitObjective = 500 * time.Millisecond
	// DefaultLongWait is the duration after which a wait is logged.
	DefaultLongWait = 5 * time.Second
	// DefaultLogInterval is the shortest time between two log records of one kind.
	DefaultLogInterval = 5 * time.Second
)

// ErrInvalidOption reports an unusable option value. Wrap wraps it.
var ErrInvalidOption = errors.New("instrument: invalid option")

// shared has the settings that decorators on one registry must agree on.
type shared struct {
	metrics.Settings
	given givenOptions
}

// givenOptions are the options that were set.
type givenOptions int

const (
	givenMaxResources givenOptions = 1 << iota
	givenIdleResources
	givenNative
	givenWaitObjective
)

// NodeSpans selects the commands on nodes that get a span.
type NodeSpans int

// The choices of WithNodeSpans.
const (
	// NodeSpansVotes selects the commands of acquires, and those others that failed or were slow.
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

// WithRegisterer registers the metrics. Decorators on one registry share one set of metrics, so each
// WithMaxResources, WithIdleResources, WithWaitObjective or WithNativeHistograms must agree with the first decorator:
// otherwise Wrap returns ErrInvalidOption. Without this option, and with nil, nothing is registered; the Locker
// itself is a collector to register.
func WithRegisterer(r prometheus.Registerer) Option { return func(c *config) { c.registerer = r } }

// WithTracerProvider sets where spans go. Without it, and with nil, they go to the global provider of OpenTelemetry,
// even if that is set later. With the provider of go.opentelemetry.io/otel/trace/noop, tracing is off and costs
// nothing.
//
// Span processors run inside Acquire, Extend and Release and must not block.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) { c.tracerProvider = p }
}

// WithLogger sets the logger for lost leases, failed renewals, missing quorums, long waits and late releases. Without
// it, and with nil, nothing is logged. Records are handled one by one in the background. If the handler cannot keep
// up, records are dropped and the next one says how many. See WithLogInterval.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithResourceLabel computes the resource label from the resource name, instead of replacing ids by "*". Every
// Acquire calls the function. WithMaxResources still bounds the number of values. The function is not called for the
// names of WithResources and for names that no lock can have, which count as "invalid". For a slot of a semaphore it
// gets the semaphore's name. If it panics or returns "", the default label is used. Bytes that are not UTF-8 are
// replaced, and at most 128 bytes are used. nil is ignored.
func WithResourceLabel(label func(resource string) string) Option {
	return func(c *config) { c.label = label }
}

// WithMaxResources sets how many values the resource label may have at a time, besides those of WithResources, before
// further ones become "other". With zero all become "other". A negative n makes Wrap fail.
func WithMaxResources(n int) Option {
	return func(c *config) { c.MaxResources, c.given = n, c.given|givenMaxResources }
}

// WithResources reserves values of the resource label. A resource with one of these names counts under it, is neither
// folded nor "other", and has series from the start. Names add up over several uses, and over the decorators on one
// registry. A name that no lock can have makes Wrap fail.
func WithResources(names ...string) Option {
	return func(c *config) { c.resources = append(c.resources, names...) }
}

// WithLabels adds at most three labels to the metrics with the label resource, such as the tier of a tenant or a
// kind of job. ContextWithLabel sets their values per call; otherwise a label is empty.
//
// Each label has twenty values at a time. Further ones count as "other", and
// distributed_lock_label_overflow_total counts their calls. A value without a call for the time of WithIdleResources
// is dropped when metrics are collected. Each value of each resource costs some 60 series, and there are at most 2000
// combinations.
//
// An invalid or taken name makes Wrap return ErrInvalidOption. All decorators on one registry must have the same
// labels: otherwise Wrap returns the registry's error.
func WithLabels(names ...string) Option {
	return func(c *config) { c.Labels = append(c.Labels[:len(c.Labels):len(c.Labels)], names...) }
}

// WithIdleResources sets how long a resource label keeps its series without a call or a lease. Then they are deleted
// and the slot is free. If the resource comes back, its counters start at zero, as after a restart of the process.
// Zero or less keeps them forever. The default is DefaultIdleResources. The series of WithResources stay.
func WithIdleResources(d time.Duration) Option {
	return func(c *config) { c.IdleResources, c.given = d, c.given|givenIdleResources }
}

// WithNativeHistograms adds native histograms to the classic buckets, with growth factor 1.1 and at most 100 buckets
// each.
func WithNativeHistograms() Option {
	return func(c *config) { c.Native, c.given = true, c.given|givenNative }
}

// WithNodeSpans selects the commands on nodes that get a span, instead of NodeSpansVotes.
func WithNodeSpans(which NodeSpans) Option { return func(c *config) { c.nodeSpans = which } }

// WithSlowNode sets the duration from which NodeSpansVotes treats a command as slow, instead of DefaultSlowNode. Raise it
// if nodes are in other regions, where each answer takes that long.
func WithSlowNode(d time.Duration) Option { return func(c *config) { c.slowNode = d } }

// WithSpanAttributes adds attributes to the spans lock.acquire, lock.extend and lock.release. Samplers see them. See
// ContextWithAttributes for the attributes of one call, and WithResourceLabel and WithLabels for the labels of
// metrics.
func WithSpanAttributes(attrs ...attribute.KeyValue) Option {
	return func(c *config) { c.spanAttributes = append(c.spanAttributes, attrs...) }
}

// WithSpanFilter sets a function that decides for each Acquire whether it, its node commands, and the renewals and
// the release of its lease get spans. Metrics and logs are not affected. If the function panics, they get spans. nil
// is ignored.
func WithSpanFilter(keep func(ctx context.Context, resource string) bool) Option {
	return func(c *config) { c.spanFilter = keep }
}

// WithWaitObjective sets the wait from which a call counts in distributed_lock_waiting_above_objective and
// distributed_lock_waiting_without_quorum. Use the within_seconds of the rules, if that is not DefaultWaitObjective.
// Zero or less makes Wrap fail.
func WithWaitObjective(d time.Duration) Option {
	return func(c *config) { c.WaitObjective, c.given = d, c.given|givenWaitObjective }
}

// WithLongWait sets the duration after which a wait that is still going on is logged and counted as long. It is logged
// again after one, 5 and 30 minutes, and when it ends. Zero or less turns that off.
func WithLongWait(d time.Duration) Option { return func(c *config) { c.longWait = d } }

// WithLogInterval sets the shortest time between two log records with the same message and reason about the same
// resource label or node. The next record counts the ones left out in left_out. The first record of a kind is never
// left out or dropped. Zero or less logs everything. The default is DefaultLogInterval.
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
	if len(names) > metrics.MaxLabels {
		return fmt.Errorf("%w: WithLabels: %d labels, at most %d allowed", ErrInvalidOption, len(names), metrics.MaxLabels)
	}
	for i, name := range names {
		if !metrics.UsableLabel(name, names[:i]) {
			return fmt.Errorf("%w: WithLabels(%q): use letters, digits and '_', and a name that no other label has",
				ErrInvalidOption, name)
		}
	}
	return nil
}
