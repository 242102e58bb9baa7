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
	r        *Engine
	ts       tracers
	resource string
	at       *place
	attempt  *attempt
	fence    uint64
	traceCtx context.Context // values of Acquire's context, for renewals and release
	ctx      context.Context
	cancel   context.CancelCauseFunc
	acquired time.Duration

	rounds chan struct{} // one slot: one round of renewal at a time

	mu      sync.Mutex
	timer   *time.Timer   // goes off at the earliest of the three below, if not before
	expires time.Duration // on the clock: when validity ends
	renewAt time.Duration // when the next round of renewal is due; never if none
	holdEnd time.Duration // when MaxHold is reached
	ended   error         // the cause; nil while held

	releasing  atomic.Bool
	released   chan struct{} // closed when the first Release is done
	releaseErr error
}

func newLease(ctx, hooked context.Context, a *attempt) *lease {
	r := a.r
	now := a.began + a.opts.TTL - Drift(a.opts.TTL) - a.validity // when validity was measured
	l := &lease{
		r: r, ts: a.ts, resource: a.start.Resource, at: a.at, attempt: a, fence: a.counter,
		traceCtx: context.WithoutCancel(hooked),
		acquired: now,
		expires:  now + a.validity,
		rounds:   make(chan struct{}, 1),
		released: make(chan struct{}),
		renewAt:  never,
		holdEnd:  never,
	}
	if !a.opts.NoRenew {
		l.renewAt = now + renewEvery(a.opts.TTL)
	}
	if a.opts.MaxHold < never-now {
		l.holdEnd = now + a.opts.MaxHold
	}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	r.mu.Lock()
	r.leases[l] = struct{}{}
	r.mu.Unlock()
	l.mu.Lock()
	// By the clock as it is now: this goroutine may have stood still since.
	l.timer = time.AfterFunc(l.nap(r.cfg.Clock()), l.watch)
	l.mu.Unlock()
	select {
	case <-r.done: // Close may have looked before this lease was there to see
		l.end(ErrClosed)
	default:
	}
	return l
}

// maxNap bounds how long the lease goes unwatched: timers stand still while the
// machine is suspended, and the clock does not.
const maxNap = time.Second

// nap is how long the lease need not be looked at. mu must be held.
func (l *lease) nap(now time.Duration) time.Duration {
	return min(l.expires-now, l.renewAt-now, l.holdEnd-now, maxNap)
}

// watch is the timer going off. Loss needs no network: that is the point of it.
func (l *lease) watch() {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return
	}
	now := l.r.cfg.Clock()
	expired, held, due := l.expires <= now, l.holdEnd <= now, l.renewAt <= now
	if due {
		l.renewAt = never // until this round has said when the next one is due
	}
	if !expired && !held {
		l.timer.Reset(l.nap(now))
	}
	l.mu.Unlock()
	switch {
	case expired:
		l.lose()
	case held:
		l.end(ErrMaxHold)
	case due:
		l.r.group.run(l.renewByTimer)
	}
}

func (l *lease) Resource() string         { return l.resource }
func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Fence() uint64            { return l.fence }

func (l *lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return min(0, l.expires-l.r.cfg.Clock())
	}
	return l.expires - l.r.cfg.Clock()
}

// lose ends the lease and gives back what the nodes may still hold of it.
func (l *lease) lose() {
	if l.end(ErrLost) {
		l.r.group.run(func() { _, _ = l.giveBack(l.traceCtx, l.traceCtx) })
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
	for i := range l.attempt.seats {
		l.attempt.seats[i].giveUp()
	}
	l.cancel(cause)
	l.r.mu.Lock()
	delete(l.r.leases, l)
	l.r.mu.Unlock()
	if cause != ErrReleased { // a release still needs the order of the place's lines
		l.r.places.leave(l.at)
	}
	return true
}

// cause is why the lease ended; nil while it is held.
func (l *lease) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil && l.expires <= l.r.cfg.Clock() {
		return ErrLost
	}
	return l.ended
}

func (l *lease) Release(ctx context.Context) error {
	if l.releasing.CompareAndSwap(false, true) {
		defer close(l.released)
		l.releaseErr = l.release(ctx)
		return l.releaseErr
	}
	select {
	case <-l.released:
		return l.releaseErr
	case <-ctx.Done():
		return fmt.Errorf("lock: release of %q is under way: %w", l.resource, contextError(ctx))
	}
}

func (l *lease) release(ctx context.Context) error {
	e := ReleaseStart{Resource: l.resource, Fence: l.fence, Held: l.r.cfg.Clock() - l.acquired}
	hooked := l.ts.releaseStart(context.WithoutCancel(ctx), e)
	began := time.Now()
	lost := errors.Is(l.cause(), ErrLost)
	held := l.end(ErrReleased)
	done, err := l.giveBack(hooked, ctx)
	if held {
		l.r.places.leave(l.at)
	}
	var failure *ReleaseError
	if errors.As(err, &failure) {
		failure.Lost = lost
	}
	done.ReleaseStart, done.Took = e, time.Since(began)
	l.ts.releaseEnd(hooked, done)
	return err
}
