package nodes

import "time"

// Config is how a set of nodes is asked.
type Config struct {
	Prefix       string // of the keys
	Instance     string // this process, as others see it
	Page         string // URL where this process shows its locks
	MaxTTL       time.Duration
	PollInterval time.Duration
	Timeout      time.Duration // of a call on a node; 0: it follows the TTL
	Clock        func() time.Duration
	Random       func(n int64) int64
}

// NodeTimeout is how long one call on a node may take for a lock of this TTL.
func (c *Config) NodeTimeout(ttl time.Duration) time.Duration {
	if c.Timeout != 0 {
		return c.Timeout
	}
	return DefaultNodeTimeout(ttl)
}

// LongestNodeTimeout is the longest that a call on a node may take, whatever the TTL.
func (c *Config) LongestNodeTimeout() time.Duration { return c.NodeTimeout(c.MaxTTL) }

// Jitter is a random duration below d.
func (c *Config) Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.Random(int64(d)))
}

// Durations of calls.
const (
	MinNodeTimeout = 50 * time.Millisecond
	MaxNodeTimeout = 500 * time.Millisecond
	// HandoffWindow is how long a released lock is kept for the waiter named next:
	// time for a message, a wake-up and a round trip.
	HandoffWindow = 50 * time.Millisecond
)

// DefaultNodeTimeout is a twentieth of the TTL, within bounds.
func DefaultNodeTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/20, MinNodeTimeout), MaxNodeTimeout)
}

// Drift is the part of the TTL that a lease does not use because clocks differ.
func Drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// SlotsKept is how long a node remembers the number of slots of a semaphore that nobody uses: longer than a night
// without work, and than any lock of it can live.
func (c *Config) SlotsKept() time.Duration { return max(24*time.Hour, 2*c.MaxTTL) }
