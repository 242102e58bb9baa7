// Package hooks tells the traces of a context what happens.
package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Traces tells each of its traces in turn; the zero value tells nobody.
type Traces []*locktrace.Trace

// Of are the traces that were installed in a context.
func Of(ctx context.Context) Traces {
	ts, _ := ctx.Value(carried.Traces{}).([]*locktrace.Trace)
	return ts
}

// HearNodes reports whether one of them has a hook for the calls of each node.
func (ts Traces) HearNodes() bool {
	return slices.ContainsFunc(ts, func(t *locktrace.Trace) bool { return t.NodeStart != nil || t.NodeEnd != nil })
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

func start[E any](ctx context.Context, ts Traces, hook func(*locktrace.Trace) startHook[E], e E) context.Context {
	for _, t := range ts {
		if f := hook(t); f != nil {
			if next := tellStart(ctx, f, e); next != nil {
				ctx = next
			}
		}
	}
	return ctx
}

func end[E any](ctx context.Context, ts Traces, hook func(*locktrace.Trace) endHook[E], e E) {
	for _, t := range ts {
		if f := hook(t); f != nil {
			tellEnd(ctx, f, e)
		}
	}
}

func (ts Traces) AcquireStart(ctx context.Context, e locktrace.AcquireStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.AcquireStart] { return t.AcquireStart }, e)
}

func (ts Traces) AcquireEnd(ctx context.Context, e locktrace.AcquireEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.AcquireEnd] { return t.AcquireEnd }, e)
}

func (ts Traces) AttemptStart(ctx context.Context, e locktrace.AttemptStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.AttemptStart] { return t.AttemptStart }, e)
}

func (ts Traces) AttemptEnd(ctx context.Context, e locktrace.AttemptEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.AttemptEnd] { return t.AttemptEnd }, e)
}

func (ts Traces) NodeStart(ctx context.Context, e locktrace.NodeStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.NodeStart] { return t.NodeStart }, e)
}

func (ts Traces) NodeEnd(ctx context.Context, e locktrace.NodeEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.NodeEnd] { return t.NodeEnd }, e)
}

func (ts Traces) NodeRestart(ctx context.Context, e locktrace.NodeRestart) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.NodeRestart] { return t.NodeRestart }, e)
}

func (ts Traces) Deadlock(ctx context.Context, e lock.DeadlockError) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[lock.DeadlockError] { return t.Deadlock }, e)
}

func (ts Traces) WaitStart(ctx context.Context, e locktrace.WaitStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.WaitStart] { return t.WaitStart }, e)
}

func (ts Traces) WaitEnd(ctx context.Context, e locktrace.WaitEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.WaitEnd] { return t.WaitEnd }, e)
}

func (ts Traces) RenewStart(ctx context.Context, e locktrace.RenewStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.RenewStart] { return t.RenewStart }, e)
}

func (ts Traces) RenewEnd(ctx context.Context, e locktrace.RenewEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.RenewEnd] { return t.RenewEnd }, e)
}

func (ts Traces) ReleaseStart(ctx context.Context, e locktrace.ReleaseStart) context.Context {
	return start(ctx, ts, func(t *locktrace.Trace) startHook[locktrace.ReleaseStart] { return t.ReleaseStart }, e)
}

func (ts Traces) ReleaseEnd(ctx context.Context, e locktrace.ReleaseEnd) {
	end(ctx, ts, func(t *locktrace.Trace) endHook[locktrace.ReleaseEnd] { return t.ReleaseEnd }, e)
}
