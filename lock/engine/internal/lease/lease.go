// Package lease has an attempt that won: it watches over validity, renews, hands over within the process and releases.
package lease

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
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Lease is an attempt that won. Until it ends, timers watch over it; it has no
// goroutine of its own except while a round of commands is under way.
type Lease struct {
	set      *nodes.Set
	open     *Open
	ts       hooks.Traces
	resource string
	queue    *queue.Queue
	attempt  *attempt.Attempt
	fence    uint64
	last     uint64        // fence of the attempt's run that a quorum has reached
	granted  time.Duration // to the attempt
	origin   nodes.Origin
	traceCtx context.Context // of Acquire: its values are for renewals and release
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
	unrenewed error         // of the last round of renewal; nil if it renewed the lease

	releasing  atomic.Bool
	done       bool          // the first Release is; guarded by mu, as the next two
	released   chan struct{} // closed then; nil if nobody waits for it
	releaseErr error
}

// New makes the lease of a caller, which ends with its parent context at the latest. The
// lease takes over the turn, if the caller has it. late says that its validity is over
// already.
func New(e *nodes.Set, open *Open, c *Request, from attempt.Beginning) (l *Lease, late bool) {
	l = &Lease{
		set: e, open: open, ts: c.Traces, resource: c.Resource, queue: c.Queue, attempt: from.Attempt, fence: from.Fence,
		last: from.Last, granted: from.Granted,
		origin:     c.Origin,
		traceCtx:   c.Traced,
		acquired:   from.Since,
		validity:   from.Expires - from.Since,
		handedOver: from.HandedOver,
		expires:    from.Expires,
		renewAt:    from.RenewAt,
		holdEnd:    clock.Never,
		keepUntil:  clock.Never,
	}
	if c.Opts.MaxHold < clock.Never-from.Since {
		l.holdEnd = from.Since + c.Opts.MaxHold
	}
	// By the clock as it is now: this goroutine may have stood still since.
	now := e.Config.Clock()
	late = now >= l.expires
	l.keepTurn(&from, c, now)
	l.ctx, l.cancel = context.WithCancelCause(l.graph.Context(c.Parent, (*described)(l)))
	l.mu.Lock()
	l.timer = time.AfterFunc(l.untilDue(now), l.watch)
	l.open.remember(l)
	l.queue.Graph.HeldBy(&l.graph, l.attempt.Req.Mode == driver.Read)
	l.queue.Leases.Add(1)
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
func (l *Lease) untilDue(now time.Duration) time.Duration {
	look := (now + maxUnwatched).Truncate(clock.Tick)
	return min(l.expires, l.renewAt, l.holdEnd, l.keepUntil, look) - now
}

// watch is called when the timer fires. It detects loss without asking a node.
func (l *Lease) watch() {
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
		l.Lose()
	case tooLong:
		l.stop(lock.ErrMaxHold)
	case due:
		l.set.Workers.Run(l.renewByTimer)
	}
}

// GiveBack hands the lock to the next caller, or releases it in the background.
func (l *Lease) GiveBack() {
	if l.handOver() {
		return
	}
	ended := l.end(lock.ErrReleased)
	l.startRelease(l.traceCtx, callqueue.Waiter{})
	if ended {
		l.passTurn()
		l.queue.Leave()
	}
}

// Describe says in the event how the lease began.
func (l *Lease) Describe(end *locktrace.AcquireEnd) {
	end.Validity, end.Fence, end.HandedOver = l.validity, l.fence, l.handedOver
}

// described is a lease as the graph of waits asks it.
type described Lease

func (d *described) Info() lock.HeldLease {
	b := d.set.Backend
	return lock.HeldLease{Resource: d.resource, Fence: d.fence, Backend: b.Name, Keyspace: b.Keyspace}
}

func (d *described) Cause() error { return (*Lease)(d).cause() }

// Reads reports that held is an engine's lease of a reader of the resource.
func Reads(held *deadlock.Lease, resource, keyspace string) bool {
	l, ok := held.Of().(*described)
	return ok && l.attempt.Req.Mode == driver.Read && l.resource == resource && l.set.Backend.Keyspace == keyspace
}

// Resource implements lock.Lease.
func (l *Lease) Resource() string { return l.resource }

// Context implements lock.Lease.
func (l *Lease) Context() context.Context { return l.ctx }

// Fence implements lock.Lease.
func (l *Lease) Fence() uint64 { return l.fence }

// Remaining implements lock.Lease.
func (l *Lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return min(0, l.expires-l.set.Config.Clock())
	}
	return l.expires - l.set.Config.Clock()
}

// Lose ends the lease and gives back what the nodes may still hold of it.
func (l *Lease) Lose() {
	if l.end(lock.ErrLost) {
		l.startRelease(l.traceCtx, callqueue.Waiter{})
		l.passTurn()
		l.queue.Leave()
	}
}

// stop ends the lease and gives nothing back: the work it protects may still be running.
func (l *Lease) stop(cause error) {
	if l.end(cause) {
		l.passTurn()
		l.queue.Leave()
	}
}

// end cancels the lease's context with cause. It reports whether it was the first to do so:
// the caller of the first end passes the turn on and leaves the queue. If it releases the
// lock, it does so before that: the release goes before the calls of the next caller.
func (l *Lease) end(cause error) bool {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return false
	}
	if cause == lock.ErrLost {
		cause = l.loss()
	}
	l.ended = cause
	l.timer.Stop()
	l.mu.Unlock()
	for i := range l.attempt.Grants {
		l.attempt.Grants[i].GiveUp()
	}
	l.cancel(cause)
	l.queue.Leases.Add(-1)
	l.queue.Graph.NotHeldBy(&l.graph)
	l.open.forget(l)
	return true
}

// cause is why the lease ended; nil while it is held.
func (l *Lease) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.expires <= l.set.Config.Clock() {
		return l.loss()
	}
	return l.ended
}
