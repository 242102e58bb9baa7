package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// tracers tells each of its traces in turn; the zero value tells nobody.
type tracers []*lock.Trace

func tracersOf(ctx context.Context) tracers {
	ts, _ := ctx.Value(carried.Traces{}).([]*lock.Trace)
	return ts
}

// contain keeps a hook that panics from taking a lock down with it: hooks run between
// commands whose effects must be undone, and in goroutines nobody else can recover.
func contain[E any](ctx context.Context, e E) {
	if v := recover(); v != nil {
		slog.ErrorContext(ctx, "lock: a trace hook panicked; the lock goes on",
			"event", fmt.Sprintf("%T", e), "panic", v, "stack", string(debug.Stack()))
	}
}

func tellStart[E any](ctx context.Context, f func(context.Context, E) context.Context, e E) context.Context {
	defer contain(ctx, e)
	return f(ctx, e)
}

func tellEnd[E any](ctx context.Context, f func(context.Context, E), e E) {
	defer contain(ctx, e)
	f(ctx, e)
}

func start[E any](ctx context.Context, ts tracers, hook func(*lock.Trace) func(context.Context, E) context.Context, e E) context.Context {
	for _, t := range ts {
		if f := hook(t); f != nil {
			if next := tellStart(ctx, f, e); next != nil {
				ctx = next
			}
		}
	}
	return ctx
}

func end[E any](ctx context.Context, ts tracers, hook func(*lock.Trace) func(context.Context, E), e E) {
	for _, t := range ts {
		if f := hook(t); f != nil {
			tellEnd(ctx, f, e)
		}
	}
}

func (ts tracers) acquireStart(ctx context.Context, e lock.AcquireStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.AcquireStart) context.Context { return t.AcquireStart }, e)
}

func (ts tracers) acquireEnd(ctx context.Context, e lock.AcquireEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.AcquireEnd) { return t.AcquireEnd }, e)
}

func (ts tracers) attemptStart(ctx context.Context, e lock.AttemptStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.AttemptStart) context.Context { return t.AttemptStart }, e)
}

func (ts tracers) attemptEnd(ctx context.Context, e lock.AttemptEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.AttemptEnd) { return t.AttemptEnd }, e)
}

func (ts tracers) nodeStart(ctx context.Context, e lock.NodeStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.NodeStart) context.Context { return t.NodeStart }, e)
}

func (ts tracers) nodeEnd(ctx context.Context, e lock.NodeEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.NodeEnd) { return t.NodeEnd }, e)
}

func (ts tracers) nodeRestart(ctx context.Context, e lock.NodeRestart) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.NodeRestart) { return t.NodeRestart }, e)
}

func (ts tracers) deadlock(ctx context.Context, e lock.Deadlock) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.Deadlock) { return t.Deadlock }, e)
}

func (ts tracers) waitStart(ctx context.Context, e lock.WaitStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.WaitStart) context.Context { return t.WaitStart }, e)
}

func (ts tracers) waitEnd(ctx context.Context, e lock.WaitEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.WaitEnd) { return t.WaitEnd }, e)
}

func (ts tracers) renewStart(ctx context.Context, e lock.RenewStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.RenewStart) context.Context { return t.RenewStart }, e)
}

func (ts tracers) renewEnd(ctx context.Context, e lock.RenewEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.RenewEnd) { return t.RenewEnd }, e)
}

func (ts tracers) releaseStart(ctx context.Context, e lock.ReleaseStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) func(context.Context, lock.ReleaseStart) context.Context { return t.ReleaseStart }, e)
}

func (ts tracers) releaseEnd(ctx context.Context, e lock.ReleaseEnd) {
	end(ctx, ts, func(t *lock.Trace) func(context.Context, lock.ReleaseEnd) { return t.ReleaseEnd }, e)
}
