package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// lease is an attempt that won. Until it ends, timers watch over it; it has no
// goroutine of its own except while a round of commands is under way.
type lease struct {
	set      *nodes.Set
	open     *openLeases
	ts       hooks.Traces
	resource string
	queue    *resourceQueue
	attempt  *attempt.Attempt
	fence    uint64
	last     uint64        // fence of the attempt's run that a quorum has reached
	granted  time.Duration // to the attempt
	origin   nodes.Origin
	traceCtx context.Context // values of Acquire's context, for renewals and release
	ctx      context.Context
	cancel   context.CancelCauseFunc
	graph    deadlock.Lease // what waits for it, and finds it in a context
	acquired time.Duration
	validity time.Duration // when it was acquired

	handedOver bool   // by another lease on the same attempt
	kept       bool   // it keeps, or has kept, the turn of its caller
	holder     string // its own holder record, once a round of renewal wants it

	rounds chan struct{} // one slot: one round of renewal at a time; made with the first

	mu        sync.Mutex
	timer     *time.Timer   // goes off at the earliest of the four below, if not before
	expires   time.Duration // on the clock: when validity ends
	renewAt   time.Duration // when the next round of renewal is due; never if none
	holdEnd   time.Duration // when MaxHold is reached
	keepUntil time.Duration // when the turn is passed on; never if it is not kept
	ended     error         // the cause; nil while held

	releasing  atomic.Bool
	done       bool          // the first Release is; guarded by mu, as the next two
	released   chan struct{} // closed then; nil if nobody waits for it
	releaseErr error
}

// newLease makes the lease of a caller, which ends with its parent context at the latest. The
// lease takes over the turn, if the caller has it. late says that its validity is over
// already.
func newLease(e *nodes.Set, open *openLeases, c *Request, from attempt.Beginning) (l *lease, late bool) {
	l = &lease{
		set: e, open: open, ts: c.ts, resource: c.resource, queue: c.queue, attempt: from.Attempt, fence: from.Fence,
		last: from.Last, granted: from.Granted,
		origin:     c.origin,
		traceCtx:   nodes.Values(c.traced),
		acquired:   from.Since,
		validity:   from.Expires - from.Since,
		handedOver: from.HandedOver,
		expires:    from.Expires,
		renewAt:    from.RenewAt,
		holdEnd:    clock.Never,
		keepUntil:  clock.Never,
	}
	if c.opts.MaxHold < clock.Never-from.Since {
		l.holdEnd = from.Since + c.opts.MaxHold
	}
	// By the clock as it is now: this goroutine may have stood still since.
	now := e.Config.Clock()
	late = now >= l.expires
	l.keepTurn(&from, &c.opts, now)
	l.ctx, l.cancel = context.WithCancelCause(l.graph.Context(c.parent, (*described)(l)))
	l.mu.Lock()
	l.timer = time.AfterFunc(l.untilDue(now), l.watch)
	l.open.remember(l)
	l.queue.graph.HeldBy(&l.graph)
	l.mu.Unlock()
	if e.Closing() { // Close may have looked before this lease was there to see
		l.stop(lock.ErrClosed)
	}
	return l, late
}

// maxUnwatched bounds the time between two looks at the lease: timers stop while the machine
// is suspended, and the clock goes on.
const maxUnwatched = time.Second

// untilDue is the time until the next look at the lease. The caller holds mu.
func (l *lease) untilDue(now time.Duration) time.Duration {
	return min(l.expires-now, l.renewAt-now, l.holdEnd-now, l.keepUntil-now, maxUnwatched)
}

// watch is called when the timer fires. It detects loss without asking a node.
func (l *lease) watch() {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return
	}
	now := l.set.Config.Clock()
	expired, tooLong, due := l.expires <= now, l.holdEnd <= now, l.renewAt <= now
	if due {
		l.renewAt = clock.Never // until this round has said when the next one is due
	}
	passing := l.keepUntil <= now
	if passing {
		l.keepUntil = clock.Never
	}
	if !expired && !tooLong {
		l.timer.Reset(l.untilDue(now))
	}
	l.mu.Unlock()
	if passing {
		l.passTurn()
	}
	switch {
	case expired:
		l.lose()
	case tooLong:
		l.stop(lock.ErrMaxHold)
	case due:
		l.set.Workers.Run(l.renewByTimer)
	}
}

// giveBack hands the lock to the next caller, or releases it in the background.
func (l *lease) giveBack() {
	if l.handOver() {
		return
	}
	ended := l.end(lock.ErrReleased)
	l.startRelease(l.traceCtx, callqueue.Waiter{})
	if ended {
		l.passTurn()
		l.queue.leave()
	}
}

// describe says in the event how the lease began.
func (l *lease) describe(end *lock.AcquireEnd) {
	end.Validity, end.Fence, end.HandedOver = l.validity, l.fence, l.handedOver
}

// described is a lease as the graph of waits asks it.
type described lease

func (d *described) Info() lock.HeldLease {
	b := d.set.Backend
	return lock.HeldLease{Resource: d.resource, Fence: d.fence, Backend: b.Name, Keyspace: b.Keyspace}
}

func (d *described) Cause() error { return (*lease)(d).cause() }

// reads reports that held is an engine's lease of a reader of the resource.
func reads(held *deadlock.Lease, resource, keyspace string) bool {
	l, ok := held.Of().(*described)
	return ok && l.attempt.Req.Mode == driver.Read && l.resource == resource && l.set.Backend.Keyspace == keyspace
}

func (l *lease) Resource() string         { return l.resource }
func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Fence() uint64            { return l.fence }

func (l *lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return min(0, l.expires-l.set.Config.Clock())
	}
	return l.expires - l.set.Config.Clock()
}

// lose ends the lease and gives back what the nodes may still hold of it.
func (l *lease) lose() {
	if l.end(lock.ErrLost) {
		l.startRelease(l.traceCtx, callqueue.Waiter{})
		l.passTurn()
		l.queue.leave()
	}
}

// stop ends the lease and gives nothing back: the work it protects may still be running.
func (l *lease) stop(cause error) {
	if l.end(cause) {
		l.passTurn()
		l.queue.leave()
	}
}

// end cancels the lease's context with cause. It reports whether it was the first to do so:
// the caller of the first end passes the turn on and leaves the queue. If it releases the
// lock, it does so before that: the release goes before the calls of the next caller.
func (l *lease) end(cause error) bool {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return false
	}
	l.ended = cause
	l.timer.Stop()
	l.mu.Unlock()
	for i := range l.attempt.Grants {
		l.attempt.Grants[i].GiveUp()
	}
	l.cancel(cause)
	l.queue.graph.NotHeldBy(&l.graph)
	l.open.forget(l)
	return true
}

// cause is why the lease ended; nil while it is held.
func (l *lease) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.expires <= l.set.Config.Clock() {
		return lock.ErrLost
	}
	return l.ended
}
