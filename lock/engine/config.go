package engine

import (
	"time"
)

// config is how a set of nodes is asked.
type config struct {
	prefix       string // of the keys
	instance     string // this process, as others see it
	page         string // URL where this process shows its locks
	maxTTL       time.Duration
	pollInterval time.Duration
	timeout      time.Duration // of a call on a node; 0: it follows the TTL
	clock        func() time.Duration
	random       func(n int64) int64
}

// nodeTimeout is how long one call on a node may take for a lock of this TTL.
func (c *config) nodeTimeout(ttl time.Duration) time.Duration {
	if c.timeout != 0 {
		return c.timeout
	}
	return defaultNodeTimeout(ttl)
}

// longestNodeTimeout is the longest that a call on a node may take, whatever the TTL.
func (c *config) longestNodeTimeout() time.Duration { return c.nodeTimeout(c.maxTTL) }

// jitter is a random duration below d.
func (c *config) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.random(int64(d)))
}

const (
	minNodeTimeout = 50 * time.Millisecond
	maxNodeTimeout = 500 * time.Millisecond
	// handoffWindow is how long a released lock is kept for the waiter named next:
	// time for a message, a wake-up and a round trip.
	handoffWindow = 50 * time.Millisecond
)

// defaultNodeTimeout is a twentieth of the TTL, within bounds.
func defaultNodeTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/20, minNodeTimeout), maxNodeTimeout)
}

// driftOf is the part of the TTL that a lease does not use because clocks differ.
func driftOf(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }
