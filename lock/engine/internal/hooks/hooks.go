// Package hooks tells the traces of a context what happens.
package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Traces tells each of its traces in turn; the zero value tells nobody.
type Traces []*lock.Trace

// Of are the traces that were installed in a context.
func Of(ctx context.Context) Traces {
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

// The two shapes of hooks.
type (
	startHook[E any] = func(context.Context, E) context.Context
	endHook[E any]   = func(context.Context, E)
)

func tellStart[E any](ctx context.Context, f startHook[E], e E) context.Context {
	defer contain(ctx, e)
	return f(ctx, e)
}

func tellEnd[E any](ctx context.Context, f endHook[E], e E) {
	defer contain(ctx, e)
	f(ctx, e)
}

func start[E any](ctx context.Context, ts Traces, hook func(*lock.Trace) startHook[E], e E) context.Context {
	for _, t := range ts {
		if f := hook(t); f != nil {
			if next := tellStart(ctx, f, e); next != nil {
				ctx = next
			}
		}
	}
	return ctx
}

func end[E any](ctx context.Context, ts Traces, hook func(*lock.Trace) endHook[E], e E) {
	for _, t := range ts {
		if f := hook(t); f != nil {
			tellEnd(ctx, f, e)
		}
	}
}

func (ts Traces) AcquireStart(ctx context.Context, e lock.AcquireStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.AcquireStart] { return t.AcquireStart }, e)
}

func (ts Traces) AcquireEnd(ctx context.Context, e lock.AcquireEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.AcquireEnd] { return t.AcquireEnd }, e)
}

func (ts Traces) AttemptStart(ctx context.Context, e lock.AttemptStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.AttemptStart] { return t.AttemptStart }, e)
}

func (ts Traces) AttemptEnd(ctx context.Context, e lock.AttemptEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.AttemptEnd] { return t.AttemptEnd }, e)
}

func (ts Traces) NodeStart(ctx context.Context, e lock.NodeStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.NodeStart] { return t.NodeStart }, e)
}

func (ts Traces) NodeEnd(ctx context.Context, e lock.NodeEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.NodeEnd] { return t.NodeEnd }, e)
}

func (ts Traces) NodeRestart(ctx context.Context, e lock.NodeRestart) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.NodeRestart] { return t.NodeRestart }, e)
}

func (ts Traces) Deadlock(ctx context.Context, e lock.Deadlock) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.Deadlock] { return t.Deadlock }, e)
}

func (ts Traces) WaitStart(ctx context.Context, e lock.WaitStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.WaitStart] { return t.WaitStart }, e)
}

func (ts Traces) WaitEnd(ctx context.Context, e lock.WaitEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.WaitEnd] { return t.WaitEnd }, e)
}

func (ts Traces) RenewStart(ctx context.Context, e lock.RenewStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.RenewStart] { return t.RenewStart }, e)
}

func (ts Traces) RenewEnd(ctx context.Context, e lock.RenewEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.RenewEnd] { return t.RenewEnd }, e)
}

func (ts Traces) ReleaseStart(ctx context.Context, e lock.ReleaseStart) context.Context {
	return start(ctx, ts, func(t *lock.Trace) startHook[lock.ReleaseStart] { return t.ReleaseStart }, e)
}

func (ts Traces) ReleaseEnd(ctx context.Context, e lock.ReleaseEnd) {
	end(ctx, ts, func(t *lock.Trace) endHook[lock.ReleaseEnd] { return t.ReleaseEnd }, e)
}
