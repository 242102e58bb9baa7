package attempt

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// HandOverWindow is how long after its grant a lock may be handed over: other processes
// wait for it, too.
const HandOverWindow = 10 * time.Millisecond

// Beginning is the state in which a lease begins: its attempt has just won, or the lease before
// it hands the lock over.
type Beginning struct {
	Attempt    *Attempt
	Granted    time.Duration // on the clock: the instant at which the attempt's validity was measured
	Last       uint64        // fence of the attempt's run that a quorum's counters have reached
	Fence      uint64
	Since      time.Duration // on the clock: the instant of the grant, or of the hand-over
	Expires    time.Duration
	RenewAt    time.Duration
	HandedOver bool
}

// Won is the beginning of a lease whose attempt has just succeeded.
func (a *Attempt) Won() Beginning {
	since := a.grantedAt()
	b := Beginning{
		Attempt: a, Granted: since, Last: a.lastFence(), Fence: a.fence, Since: since, Expires: since + a.validity,
		RenewAt: clock.Never,
	}
	if !a.Opts.NoRenew {
		b.RenewAt = a.RenewAt(since)
	}
	return b
}

// RenewAt is when a lease that was granted or renewed at since is renewed next: after a quarter to a third of the TTL,
// which leaves time for two more tries before the lease runs out. It is random so that leases acquired together are not
// renewed together for as long as they live, and one of few instants so that those of one instant share a write.
func (a *Attempt) RenewAt(since time.Duration) time.Duration {
	longest := a.Opts.TTL / 3
	at := since + longest - a.Set.Config.Jitter(longest/4)
	return at.Truncate(min(a.Opts.TTL/200, clock.Tick))
}

// grantedAt is the instant at which validity was measured.
func (a *Attempt) grantedAt() time.Duration {
	return a.began + a.Opts.TTL - nodes.Drift(a.Opts.TTL) - a.validity
}

// HandsOver reports that a caller with these options may hand the lock over, or be handed it.
func HandsOver(o *lock.AcquireOptions) bool {
	return !o.NoRenew && !o.Fair && o.MinHold == 0 && o.Mode == lock.ModeExclusive
}

// HandOverUntil is the instant until which the lock may be handed over by a lease with
// these options; 0 if it may not.
func (b *Beginning) HandOverUntil(o *lock.AcquireOptions, now time.Duration) time.Duration {
	until := b.Granted + HandOverWindow
	if !HandsOver(o) || b.Fence >= b.Last || now >= until {
		return 0
	}
	return until
}
