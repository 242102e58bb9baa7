package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// lease is an attempt that won. Until it ends, timers watch over it; it has no
// goroutine of its own except while a round of commands is under way.
type lease struct {
	engine   *Engine
	ts       tracers
	resource string
	queue    *resourceQueue
	attempt  *attempt
	fence    uint64
	traceCtx context.Context // values of Acquire's context, for renewals and release
	ctx      context.Context
	cancel   context.CancelCauseFunc
	acquired time.Duration

	rounds chan struct{} // one slot: one round of renewal at a time; made with the first

	mu      sync.Mutex
	timer   *time.Timer   // goes off at the earliest of the three below, if not before
	expires time.Duration // on the clock: when validity ends
	renewAt time.Duration // when the next round of renewal is due; never if none
	holdEnd time.Duration // when MaxHold is reached
	ended   error         // the cause; nil while held

	releasing  atomic.Bool
	done       bool          // the first Release is; guarded by mu, as the next two
	released   chan struct{} // closed then; nil if nobody waits for it
	releaseErr error
}

// newLease makes a lease that ends with parent at the latest.
func newLease(parent context.Context, a *attempt) *lease {
	e := a.engine
	now := a.began + a.opts.TTL - Drift(a.opts.TTL) - a.validity // when validity was measured
	l := &lease{
		engine: e, ts: a.ts, resource: a.start.Resource, queue: a.queue, attempt: a, fence: a.fence,
		traceCtx: context.WithoutCancel(a.traced),
		acquired: now,
		expires:  now + a.validity,
		renewAt:  never,
		holdEnd:  never,
	}
	if !a.opts.NoRenew {
		l.renewAt = now + renewEvery(a.opts.TTL)
	}
	if a.opts.MaxHold < never-now {
		l.holdEnd = now + a.opts.MaxHold
	}
	l.ctx, l.cancel = context.WithCancelCause(parent)
	e.mu.Lock()
	e.leases[l] = struct{}{}
	e.mu.Unlock()
	l.mu.Lock()
	// By the clock as it is now: this goroutine may have stood still since.
	l.timer = time.AfterFunc(l.untilDue(e.cfg.Clock()), l.watch)
	l.mu.Unlock()
	select {
	case <-e.done: // Close may have looked before this lease was there to see
		l.end(ErrClosed)
	default:
	}
	return l
}

// maxUnwatched bounds how long the lease goes unwatched: timers stand still while the
// machine is suspended, and the clock does not.
const maxUnwatched = time.Second

// untilDue is how long the lease need not be looked at. mu must be held.
func (l *lease) untilDue(now time.Duration) time.Duration {
	return min(l.expires-now, l.renewAt-now, l.holdEnd-now, maxUnwatched)
}

// watch is the timer going off. Loss needs no network: that is the point of it.
func (l *lease) watch() {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return
	}
	now := l.engine.cfg.Clock()
	expired, held, due := l.expires <= now, l.holdEnd <= now, l.renewAt <= now
	if due {
		l.renewAt = never // until this round has said when the next one is due
	}
	if !expired && !held {
		l.timer.Reset(l.untilDue(now))
	}
	l.mu.Unlock()
	switch {
	case expired:
		l.lose()
	case held:
		l.end(ErrMaxHold)
	case due:
		l.engine.workers.Run(l.renewByTimer)
	}
}

func (l *lease) Resource() string         { return l.resource }
func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Fence() uint64            { return l.fence }

func (l *lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return min(0, l.expires-l.engine.cfg.Clock())
	}
	return l.expires - l.engine.cfg.Clock()
}

// lose ends the lease and gives back what the nodes may still hold of it.
func (l *lease) lose() {
	if l.end(ErrLost) {
		l.startRelease(l.traceCtx, waiter{})
	}
}

// end cancels the lease's context with cause. It reports whether it was the first.
func (l *lease) end(cause error) bool {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return false
	}
	l.ended = cause
	l.timer.Stop()
	l.mu.Unlock()
	for i := range l.attempt.grants {
		l.attempt.grants[i].giveUp()
	}
	l.cancel(cause)
	l.engine.mu.Lock()
	delete(l.engine.leases, l)
	l.engine.mu.Unlock()
	if cause != ErrReleased { // a release still needs the order of the queue's calls
		l.queue.leave()
	}
	return true
}

// cause is why the lease ended; nil while it is held.
func (l *lease) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.expires <= l.engine.cfg.Clock() {
		return ErrLost
	}
	return l.ended
}

func (l *lease) Release(ctx context.Context) error {
	if l.releasing.CompareAndSwap(false, true) {
		var err error
		defer func() { l.finishRelease(err) }()
		err = l.releaseOnce(ctx)
		return err
	}
	select {
	case <-l.releaseDone():
		return l.releaseErr
	case <-ctx.Done():
		return fmt.Errorf("lock: release of %q is under way: %w", l.resource, contextError(ctx))
	}
}

func (l *lease) finishRelease(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.releaseErr = true, err
	if l.released != nil {
		close(l.released)
	}
}

// releaseDone is closed when the first Release is done.
func (l *lease) releaseDone() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released == nil {
		l.released = make(chan struct{})
		if l.done {
			close(l.released)
		}
	}
	return l.released
}

func (l *lease) releaseOnce(ctx context.Context) error {
	e := ReleaseStart{Resource: l.resource, Fence: l.fence, Held: l.engine.cfg.Clock() - l.acquired}
	hooked := l.ts.releaseStart(context.WithoutCancel(ctx), e)
	began := time.Now()
	lost := errors.Is(l.cause(), ErrLost)
	held := l.end(ErrReleased)
	done, err := l.startRelease(hooked, l.engine.onlyWait(ctx)).wait(ctx)
	if held {
		l.queue.leave()
	}
	var failure *ReleaseError
	if errors.As(err, &failure) {
		failure.Lost = lost
	}
	done.ReleaseStart, done.Took = e, time.Since(began)
	l.ts.releaseEnd(hooked, done)
	return err
}
