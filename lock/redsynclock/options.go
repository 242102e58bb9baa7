package redsynclock

import (
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// DefaultPollInterval is the longest time between two attempts of a waiter, about as in redsync.
// lock.WithPollInterval sets another.
const DefaultPollInterval = 200 * time.Millisecond

// longestTTL is the longest TTL that package lock accepts.
const longestTTL = 30 * 24 * time.Hour

// settings are the options of this package.
type settings struct{ mutex []redsync.Option }

// WithMutexOptions gives redsync's options to every mutex. These have an effect:
//
//   - WithExpiry is the default TTL of Acquire; redsync's own default is 8 s
//   - WithSetNXOnExtend counts a key that was lost and restored as a vote
//   - WithTimeoutFactor may shorten the time to wait for a server, beside lock.WithNodeTimeout
//   - WithDriftFactor may shorten the validity further, after engine.Drift
//   - WithFailFast and WithShufflePools matter for [Wrap] only, where redsync asks several pools
//
// The engine sets tries, pauses and values: use lock.MaxAttempts, lock.MaxWait and
// lock.WithPollInterval. Values begin with the token.
func WithMutexOptions(opts ...redsync.Option) lock.Option {
	return engine.DriverOption(func(s *settings) { s.mutex = slices.Concat(s.mutex, opts) })
}
