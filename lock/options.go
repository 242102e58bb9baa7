package lock

import (
	"time"

	"github.com/lockscope/lockscope/lock/internal/settings"
)

// Defaults of an engine.
const (
	// DefaultPrefix is the prefix of lock keys, which leak scanners look for.
	DefaultPrefix = "lock:"
	// DefaultMaxTTL is the longest TTL that Acquire accepts. A node that restarted may not
	// vote until locks with this TTL have expired.
	DefaultMaxTTL = time.Minute
	// DefaultPollInterval is how long a waiter waits for a notification before it looks
	// again.
	DefaultPollInterval = 500 * time.Millisecond
	// MaxNodes is the largest number of nodes of one engine. Beyond nine, the added
	// safety is seldom worth the latency.
	MaxNodes = 63
)

// Option configures an engine or its driver. Every driver accepts the options of this package
// beside its own.
type Option func(*settings.Engine[AcquireOption])

// WithPrefix sets the prefix of lock keys, instead of [DefaultPrefix]. It must not be empty or
// contain braces or control characters; see [ValidateResource].
func WithPrefix(prefix string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Prefix = prefix }
}

// WithInstance names this process in the locks it holds, so that waiters see who blocks them.
// The default is host/pid. Characters that cannot be stored are replaced.
func WithInstance(name string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Instance = name }
}

// WithBackend names the set of nodes in traces and metrics, such as "orders" or "eu-west", to
// distinguish several sets in one process. The default is the kind of system, such as "redis".
// The name must not contain control characters.
func WithBackend(name string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Backend = name }
}

// WithNodeTimeout bounds every command on a node. The default, 0, is a twentieth of the lock's
// TTL, but at least 50 ms and at most 500 ms. A longer timeout tolerates slow nodes and
// clients short of CPU. A shorter one fails sooner when too many nodes hang for a quorum. The
// minimum is 1 ms.
func WithNodeTimeout(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.NodeTimeout = d }
}

// WithMaxTTL sets the longest TTL that Acquire accepts. Every process that uses these nodes must set
// the same value, since a node that restarted may not vote until locks with this TTL have expired.
func WithMaxTTL(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.MaxTTL = d }
}

// WithPollInterval sets how long a waiter waits for a notification before it looks again. It
// bounds the latency when a notification is lost. Jitter shortens it by up to a half, and
// waiters far back in the queue look less often.
//
// A holder that uses another library notifies nobody. The first waiter in the queue then
// looks again after at most a fifth of the interval, or half of it during a long hold.
func WithPollInterval(d time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.PollInterval = d }
}

// WithNodeNames names the nodes in errors, traces and metrics, instead of host:port. Give one
// name for each node, in the order of the nodes, without control characters.
func WithNodeNames(names ...string) Option {
	return func(s *settings.Engine[AcquireOption]) { s.NodeNames = names }
}

// WithCallSites records the caller of every Acquire as folder, file and line, such as
// "orders/charge.go:42". The lock's value, [HeldError], the trace and the queue entries of
// waiters include it. It costs one walk up the stack for each Acquire: BENCHMARKS.md of
// package redlock has the numbers.
func WithCallSites() Option { return func(s *settings.Engine[AcquireOption]) { s.CallSites = true } }

// WithPage sets the URL of this process's live page, such as
// "http://10.0.0.7:9090/debug/locks". Its locks and queue entries include the URL, so that a
// reader of one finds the page.
func WithPage(url string) Option { return func(s *settings.Engine[AcquireOption]) { s.Page = url } }

// WithClock replaces the clock that measures validity, for tests. The function returns the time
// since some fixed point. It must never go back, and it must count the time during which the
// machine is suspended.
func WithClock(clock func() time.Duration) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Clock = clock }
}

// WithRandom replaces the source of jitter, for tests. The function returns a number in
// [0, n) and must be safe for concurrent use.
func WithRandom(random func(n int64) int64) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Random = random }
}

// WithDefaults sets options for every Acquire. Options given to Acquire override them.
func WithDefaults(opts ...AcquireOption) Option {
	return func(s *settings.Engine[AcquireOption]) { s.Acquire = append(s.Acquire, opts...) }
}
