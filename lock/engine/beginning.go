package engine

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// handOverWindow is how long after its grant a lock may be handed over: other processes
// wait for it, too.
const handOverWindow = 10 * time.Millisecond

// beginning is the state in which a lease begins: its attempt has just won, or the lease before
// it hands the lock over.
type beginning struct {
	attempt    *attempt
	granted    time.Duration // on the clock: the instant at which the attempt's validity was measured
	last       uint64        // fence of the attempt's run that a quorum's counters have reached
	fence      uint64
	since      time.Duration // on the clock: the instant of the grant, or of the hand-over
	expires    time.Duration
	renewAt    time.Duration
	handedOver bool
}

// won is the beginning of a lease whose attempt has just succeeded.
func (a *attempt) won() beginning {
	since := a.grantedAt()
	b := beginning{
		attempt: a, granted: since, last: a.lastFence(), fence: a.fence, since: since, expires: since + a.validity,
		renewAt: clock.Never,
	}
	if !a.opts.NoRenew {
		b.renewAt = since + renewEvery(a.opts.TTL)
	}
	return b
}

// renewEvery leaves time for two more tries before a lease runs out.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// grantedAt is the instant at which validity was measured.
func (a *attempt) grantedAt() time.Duration {
	return a.began + a.opts.TTL - nodes.Drift(a.opts.TTL) - a.validity
}

// handsOver reports that a caller with these options may hand the lock over, or be handed it.
func handsOver(o *lock.AcquireOptions) bool {
	return !o.NoRenew && !o.Fair && modeOf(o.Kind) == driver.Exclusive
}

// handOverUntil is the instant until which the lock may be handed over by a lease with
// these options; 0 if it may not.
func (b *beginning) handOverUntil(o *lock.AcquireOptions, now time.Duration) time.Duration {
	until := b.granted + handOverWindow
	if !handsOver(o) || b.fence >= b.last || now >= until {
		return 0
	}
	return until
}
