package engine

import (
	"time"

	"github.com/lockscope/lockscope/lock"
)

const (
	// handOverWindow is for how long after its grant a lock is handed over: other
	// processes wait for it.
	handOverWindow = 10 * time.Millisecond
	// renameAfter is how long a lease that was handed the lock lets others be told of the
	// one before it.
	renameAfter = 5 * time.Millisecond
	// A grant reserves so many fences for each caller that waits behind the one that asks,
	// at most the second: more than are handed over in 10 ms, and fewer than the
	// microseconds in them, by which counters go on by themselves.
	fencesPerWaiter = 256
	maxRun          = 8192
)

// beginning is what a lease begins with, be it what its attempt won or what the lease before
// it leaves.
type beginning struct {
	attempt    *attempt
	fence      uint64
	since      time.Duration // on the clock: the instant of the grant, or of the hand-over
	expires    time.Duration
	renewAt    time.Duration
	handedOver bool
}

// won is what an attempt leaves to its lease: one that has just succeeded.
func (a *attempt) won() beginning {
	since := a.grantedAt()
	b := beginning{attempt: a, fence: a.fence, since: since, expires: since + a.validity, renewAt: never}
	if !a.opts.NoRenew {
		b.renewAt = since + renewEvery(a.opts.TTL)
	}
	return b
}

// renewEvery leaves two more tries before a lease runs out.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// grantedAt is the instant at which validity was measured.
func (a *attempt) grantedAt() time.Duration {
	return a.began + a.opts.TTL - Drift(a.opts.TTL) - a.validity
}

// handsOver reports that a lease with these options may be handed over, and be one that
// was.
func handsOver(o *lock.AcquireOptions) bool { return !o.NoRenew && !o.Fair }

// handOverUntil is the instant until which the lock may be handed over by a lease with
// these options; 0 if it may not.
func (b *beginning) handOverUntil(o *lock.AcquireOptions, now time.Duration) time.Duration {
	until := b.attempt.grantedAt() + handOverWindow
	if !handsOver(o) || b.fence >= b.attempt.lastFence() || now >= until {
		return 0
	}
	return until
}
