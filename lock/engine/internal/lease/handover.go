package lease

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// Callers of one process that queue for one resource hand the lock over without asking a
// node, as lock cohorting does (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012). The
// lease that won keeps its caller's turn for a while; if it is released by then, the caller
// that waits first gets a lease of its own on the same grant, with the next fence of the
// run that the grant reserved.

// renameAfter is how long the lock keeps the holder record of the lease before, after a
// hand-over.
const renameAfter = 5 * time.Millisecond

// MayHandTo reports that a caller with these options may be handed the lock of this lease, if
// the lease may hand it over at all.
func (l *Lease) MayHandTo(o *lock.AcquireOptions) bool {
	return attempt.HandsOver(o) && o.TTL == l.attempt.Opts.TTL
}

// keepTurn keeps the turn of the lease's caller for as long as the lock may be handed over, or
// passes it on at once.
func (l *Lease) keepTurn(from *attempt.Beginning, c *Request, now time.Duration) {
	until := from.HandOverUntil(&c.Opts, now)
	switch {
	case !c.HasTurn:
	case until == 0:
		l.queue.PassTurn()
	default:
		l.kept, l.keepUntil = true, until
		l.queue.KeepTurn(l)
	}
}

// passTurn lets the next local caller contend, if the lease still keeps the turn.
func (l *Lease) passTurn() {
	if l.kept {
		l.queue.PassKept(l)
	}
}

// handOver ends the lease and gives the lock to the caller of this process that waits
// first. It reports whether it did; if not, the lease is unchanged. It does nothing during a
// round of renewal, whose outcome is not known yet.
func (l *Lease) handOver() bool {
	if !l.kept || l.set.Closing() {
		return false
	}
	next := l.endForNext()
	if next == nil {
		return false
	}
	l.cancel(lock.ErrReleased)
	close(next.Come)
	l.queue.Graph.NotHeldBy(&l.graph)
	l.queue.Leases.Add(-1)
	l.open.forget(l)
	l.queue.Leave()
	return true
}

// endForNext ends the lease if the caller behind it gets a lease that is worth having. A round of renewal has the holder and
// the fence of this lease, and may yet find that it is lost: the next lease would begin with an outcome that is not its own.
// With less than two thirds of the validity left, as after an acquire that took long, the next caller had better have a
// grant of its own.
func (l *Lease) endForNext() *queue.Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.set.Config.Clock()
	ttl := l.attempt.Opts.TTL
	if l.ended != nil || len(l.rounds) > 0 || now >= l.keepUntil || 3*(l.expires-now) < 2*(ttl-nodes.Drift(ttl)) {
		return nil
	}
	next := l.queue.HandTurn(l, attempt.Beginning{
		Attempt: l.attempt, Granted: l.granted, Last: l.last, Fence: l.fence + 1, Since: now, Expires: l.expires,
		RenewAt: min(l.renewAt, now+renameAfter), HandedOver: true,
	})
	if next != nil {
		l.ended = lock.ErrReleased
		l.timer.Stop()
	}
	return next
}

// Held describes the lease to callers of this process that wait behind it.
func (l *Lease) Held() *lock.HeldError {
	return &lock.HeldError{
		Resource: l.resource, Key: l.queue.Key, Nodes: len(l.set.Nodes),
		Holder: l.set.Holder(time.Now().Add(l.acquired-l.set.Config.Clock()), l.origin),
	}
}

// holderRecord is the lease's holder record, which its renewals write into the lock. Rounds of
// renewal call it, one at a time.
func (l *Lease) holderRecord() string {
	if !l.handedOver {
		return l.attempt.Holder()
	}
	if l.holder == "" {
		since := time.Now().Add(l.acquired - l.set.Config.Clock())
		l.holder = l.set.HolderRecord(since, l.origin)
	}
	return l.holder
}
