package lock

import (
	"time"

	"github.com/lockscope/lockscope/lock/internal/settings"
)

// Defaults of an engine.
const (
	// DefaultPrefix is where leak scanners look for locks.
	DefaultPrefix = "lock:"
	// DefaultMaxTTL is the longest TTL accepted, and so the time for which a
	// restarted node may not vote.
	DefaultMaxTTL = time.Minute
	// DefaultPollInterval is how long a waiter that hears nothing stays quiet.
	DefaultPollInterval = 500 * time.Millisecond
	// MaxNodes is the largest number of nodes of one engine. More than nine make
	// nothing safer that is worth their latency.
	MaxNodes = 63
)

// Option configures an engine, or the driver below it: every driver takes the options
// of this package and its own side by side.
type Option func(*settings.Engine[AcquireOption])

// WithPrefix puts locks below prefix instead of "lock:". It must not be empty
// nor contain braces or control characters.
func WithPrefix(prefix string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Prefix = prefix }
}

// WithInstance names this process in the locks it holds, for others to see who
// blocks them. The default is host/pid. Characters that cannot be stored are replaced.
func WithInstance(name string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Instance = name }
}

// WithBackend names the set of nodes in traces and metrics, to tell several in one
// process apart: "orders", "eu-west". The default is what kind of system it is.
func WithBackend(name string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Backend = name }
}

// WithNodeTimeout bounds every command on a node, instead of a twentieth of the lock's
// TTL between 50 and 500 ms. Raising it tolerates slower nodes and clients without CPU;
// lowering it decides faster when so many nodes hang that no quorum answers. At least
// 1 ms; 0 is the default.
func WithNodeTimeout(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.NodeTimeout = d }
}

// WithMaxTTL sets the longest TTL accepted. It must be the same in every process
// that uses these nodes: a restarted node stays silent for this long.
func WithMaxTTL(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.MaxTTL = d }
}

// WithPollInterval sets how long a waiter that hears nothing waits before it
// looks again. It bounds the latency when a notification is lost. Jitter
// shortens it by up to a half; waiters far back in the queue look less often. Where the
// holder is another library's, which names no waiter, the first in the queue looks after
// a fifth of it at most, and after half of it where one hold lasts long.
func WithPollInterval(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.PollInterval = d }
}

// WithNodeNames names the nodes in errors, traces and metrics, in their order,
// instead of host:port.
func WithNodeNames(names ...string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.NodeNames = names }
}

// WithCallSites makes every Acquire remember where it was called: the file, its folder
// and the line, as "orders/charge.go:42". The lock's value, [HeldError], the trace and
// the queue entries of waiters say it. It costs a walk up the stack for each Acquire: see
// BENCHMARKS.md of package redlock.
func WithCallSites() Option { return func(s *settings.Engine[AcquireOption]) { s.CallSites = true } }

// WithPage says where this process shows who holds and who waits, as
// "http://10.0.0.7:9090/debug/locks". It is written into the locks it holds and its
// entries in queues, for whoever sees one of them to find the page.
func WithPage(url string) Option { return func(s *settings.Engine[AcquireOption]) { s.Page = url } }

// WithClock replaces the clock by which validity is measured: the time that has passed since
// some fixed point. It must never go back, and must count time during which the machine was
// suspended. For tests.
func WithClock(clock func() time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Clock = clock }
}

// WithRandom replaces the source of the jitter of waits; it returns a number from
// 0 up to but not including n, and must be safe for concurrent use. For tests.
func WithRandom(random func(n int64) int64) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Random = random }
}

// WithDefaults sets acquire options that every Acquire starts from.
func WithDefaults(opts ...AcquireOption) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Acquire = append(s.Acquire, opts...) }
}
