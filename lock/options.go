package lock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Defaults of New and Open.
const (
	// DefaultPrefix is where leak scanners look for locks.
	DefaultPrefix = "lock:"
	// DefaultNodeTimeout bounds one command on one node. It must be far below
	// the TTL, and far above a round trip plus a pause of the node.
	DefaultNodeTimeout = 50 * time.Millisecond
	// DefaultMaxTTL is the longest TTL accepted, and so the time for which a
	// restarted node may not vote.
	DefaultMaxTTL = time.Minute
	// DefaultPollInterval is how long a waiter that hears nothing stays quiet.
	DefaultPollInterval = 500 * time.Millisecond
)

type config struct {
	prefix          string
	instance        string
	nodeTimeout     time.Duration
	maxTTL          time.Duration
	quarantine      time.Duration // MaxTTL plus drift unless given
	quarantineGiven bool
	pollInterval    time.Duration
	evictionOK      bool
	unguarded       bool
	aliases         []string
	hooks           []redis.Hook
	clock           Clock
	random          func(n int64) int64
	acquire         []AcquireOption
}

// Option configures New, Open and NewFromNodes.
type Option func(*config)

// WithPrefix puts locks below prefix instead of "lock:". It must not be empty
// nor contain braces or control characters.
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithInstance names this process in the locks it holds, for others to see who
// blocks them. The default is host/pid. Characters that cannot be stored are replaced.
func WithInstance(name string) Option { return func(c *config) { c.instance = name } }

// WithNodeTimeout bounds every command on a node. Raising it tolerates slower
// nodes; lowering it decides faster when nodes hang. At least 1 ms.
func WithNodeTimeout(d time.Duration) Option { return func(c *config) { c.nodeTimeout = d } }

// WithMaxTTL sets the longest TTL accepted. It must be the same in every process
// that uses these nodes: a restarted node stays silent for this long.
func WithMaxTTL(d time.Duration) Option { return func(c *config) { c.maxTTL = d } }

// WithRestartQuarantine sets for how long a node that restarted may not vote,
// instead of MaxTTL plus 1 % and 2 ms. Anything shorter, and 0 which switches
// it off, is safe only if the nodes lose nothing when they restart, or if no
// lock can have been held before. Without this option one or two nodes vote at
// once after a restart, and Trace.NodeRestart tells of it; given, it holds for
// any number of nodes. To let a set of new nodes vote at once, use [Vouch]
// instead: it holds until their next restart, an option for every one.
func WithRestartQuarantine(d time.Duration) Option {
	return func(c *config) { c.quarantine, c.quarantineGiven = d, true }
}

// WithPollInterval sets how long a waiter that hears nothing waits before it
// looks again. It bounds the latency when a notification is lost. Jitter
// shortens it by up to a half; waiters far back in the queue look less often.
func WithPollInterval(d time.Duration) Option { return func(c *config) { c.pollInterval = d } }

// WithEvictingNodes accepts nodes whose maxmemory-policy may evict locks while
// they are held. Mutual exclusion is then only as good as their free memory.
func WithEvictingNodes() Option { return func(c *config) { c.evictionOK = true } }

// WithoutGuard skips the examination of the nodes (INFO on every new connection):
// restarts, replicas, duplicates and eviction go unnoticed. For servers on which
// INFO is not permitted.
func WithoutGuard() Option { return func(c *config) { c.unguarded = true } }

// WithNodeNames names the nodes in errors, traces and metrics, in their order,
// instead of host:port.
func WithNodeNames(names ...string) Option { return func(c *config) { c.aliases = names } }

// WithRedisHook adds a go-redis hook to lockscope's own connections. Process
// and pipeline hooks of a given standalone client are carried over without it;
// dial hooks and the hooks of a cluster client cannot be read from outside
// go-redis and are wanted here.
func WithRedisHook(h redis.Hook) Option { return func(c *config) { c.hooks = append(c.hooks, h) } }

// WithClock replaces the clock by which validity is measured. For tests.
func WithClock(clock Clock) Option { return func(c *config) { c.clock = clock } }

// WithRandom replaces the source of the jitter of waits; it returns a number from
// 0 up to but not including n, and must be safe for concurrent use. For tests.
func WithRandom(random func(n int64) int64) Option { return func(c *config) { c.random = random } }

// WithDefaults sets acquire options that every Acquire starts from.
func WithDefaults(opts ...AcquireOption) Option {
	return func(c *config) { c.acquire = append(c.acquire, opts...) }
}

func newConfig(nodes int, opts []Option) (config, error) {
	c := config{
		prefix:       DefaultPrefix,
		instance:     defaultInstance(),
		nodeTimeout:  DefaultNodeTimeout,
		maxTTL:       DefaultMaxTTL,
		pollInterval: DefaultPollInterval,
		random:       rand.Int64N,
	}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if err := validateName(c.prefix); err != nil {
		return c, fmt.Errorf("%w: WithPrefix: %w", ErrInvalidOption, err)
	}
	if c.instance == "" {
		return c, fmt.Errorf("%w: WithInstance: it is empty", ErrInvalidOption)
	}
	if c.nodeTimeout < time.Millisecond {
		return c, fmt.Errorf("%w: WithNodeTimeout(%v): at least 1ms", ErrInvalidOption, c.nodeTimeout)
	}
	if c.pollInterval < time.Millisecond {
		return c, fmt.Errorf("%w: WithPollInterval(%v): at least 1ms", ErrInvalidOption, c.pollInterval)
	}
	if c.maxTTL < c.minTTL() || c.maxTTL > maxMaxTTL {
		return c, fmt.Errorf("%w: WithMaxTTL(%v): between %v and %v with a node timeout of %v",
			ErrInvalidOption, c.maxTTL, c.minTTL(), maxMaxTTL, c.nodeTimeout)
	}
	if !c.quarantineGiven {
		c.quarantine = c.maxTTL + drift(c.maxTTL)
	}
	if c.quarantine < 0 {
		return c, fmt.Errorf("%w: WithRestartQuarantine(%v): it is negative", ErrInvalidOption, c.quarantine)
	}
	if len(c.aliases) != 0 && len(c.aliases) != nodes {
		return c, fmt.Errorf("%w: WithNodeNames: %d names for %d nodes", ErrInvalidOption, len(c.aliases), nodes)
	}
	if slices.Contains(c.aliases, "") {
		return c, fmt.Errorf("%w: WithNodeNames: a name is empty", ErrInvalidOption)
	}
	if err := NewAcquireOptions(c.acquire...).validate(&c); len(c.acquire) > 0 && err != nil {
		return c, fmt.Errorf("WithDefaults: %w", err)
	}
	if c.random == nil {
		return c, fmt.Errorf("%w: WithRandom: it is nil", ErrInvalidOption)
	}
	if c.clock == nil {
		c.clock = newClock()
	}
	return c, nil
}

// maxMaxTTL keeps milliseconds and arithmetic on them far from overflow.
const maxMaxTTL = 30 * 24 * time.Hour

// minTTL leaves time for a vote, a fence round and a renewal that meet a hung node.
func (c *config) minTTL() time.Duration { return 4 * c.nodeTimeout }

// drift is what validity gives up to clocks: 1 % of the TTL for their rate, 2 ms
// for the granularity of Redis expiry, as the Redlock text of the Redis docs has it.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// handoffWindow is how long a released lock is kept for the waiter named next:
// time for a message, a wake-up and a round trip.
func (c *config) handoffWindow() time.Duration { return c.nodeTimeout }
