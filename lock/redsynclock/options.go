package redsynclock

import (
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// DefaultPollInterval is how long a waiter waits before it looks again, at most and
// unless lock.WithPollInterval says otherwise: about as often as redsync looks.
const DefaultPollInterval = 200 * time.Millisecond

// longestTTL is the longest that package lock knows.
const longestTTL = 30 * 24 * time.Hour

// settings are the options of this package.
type settings struct{ mutex []redsync.Option }

// WithMutexOptions gives redsync's options to every mutex. Which of them mean something:
//
//   - WithExpiry is the TTL of locks whose Acquire gives none; redsync's default is 8 s
//   - WithSetNXOnExtend counts a key that was lost, and put back, as one that was kept
//   - WithTimeoutFactor may shorten what a server is waited for, beside lock.WithNodeTimeout
//   - WithDriftFactor can only shorten what engine.Drift leaves
//   - WithFailFast and WithShufflePools are for [Wrap], where redsync asks several pools
//
// Tries and pauses are the engine's: lock.MaxAttempts, lock.MaxWait and
// lock.WithPollInterval. So is the value: it begins with the token.
func WithMutexOptions(opts ...redsync.Option) lock.Option {
	return engine.DriverOption(func(s *settings) { s.mutex = slices.Concat(s.mutex, opts) })
}
