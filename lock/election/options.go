package election

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
)

type config struct {
	acquire []lock.AcquireOption
	standby func(context.Context, lock.Holder)
	failed  func(error)
	once    bool
}

// Option configures a campaign.
type Option func(*config)

// TTL sets how long the leadership outlives a leader that crashed, at most; see [lock.TTL].
func TTL(d time.Duration) Option {
	return func(c *config) { c.acquire = append(c.acquire, lock.TTL(d)) }
}

// Standby makes Run call fn when the candidate becomes the first in line, at most once in each campaign, with the
// leader as the nodes describe it. fn runs beside the campaign and may go on while the candidate leads. Its context
// ends with the term, when the campaign fails, and with Run's. Run waits for fn before the next campaign and before it
// returns. fn must not act as leader. After a crash another candidate may lead instead: see the package documentation.
func Standby(fn func(ctx context.Context, leader lock.Holder)) Option {
	return func(c *config) { c.standby = fn }
}

// Failed makes Run call fn with the error of each campaign that found no quorum, before it campaigns again.
func Failed(fn func(error)) Option { return func(c *config) { c.failed = fn } }

// Once makes Run return when a term is lost, instead of campaigning again.
func Once() Option { return func(c *config) { c.once = true } }

func newConfig(opts []Option) config {
	c := config{acquire: []lock.AcquireOption{lock.MaxHold(lock.Unlimited), lock.OfKind(lock.KindElection)}}
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	return c
}
