// Package locktrace reports the steps of the algorithm, as [net/http/httptrace] does for package http. Put a [Trace] into
// the context of an Acquire with [With]. Package instrument does that for metrics, spans and logs.
package locktrace

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Trace is a set of hooks that report the steps of the algorithm. Like
// [net/http/httptrace.ClientTrace] it travels in a context; see [With].
//
//  1. Any hook may be nil. The struct must not change once it is installed.
//  2. Hooks run inline and concurrently: return fast, never block, never call
//     back into the lock.
//  3. Exactly one End hook follows every Start hook, also on cancellation. It gets
//     the context that the Start hook returned.
//  4. End events include the fields of their Start events, so End hooks suffice for
//     metrics.
//  5. A slow node's NodeEnd may come after AcquireEnd, even after ReleaseEnd.
//  6. Acquire reads the trace once, and the lease keeps it. Renewals and releases
//     report to it, in contexts with the values of Acquire's context but without its
//     cancellation.
//  7. No event carries an owner token.
//  8. If a hook panics, the lock goes on as if the hook had returned, and the panic is
//     logged to slog.Default with its stack.
//
// Minor versions may add hooks and fields.
type Trace struct {
	AcquireStart func(context.Context, AcquireStart) context.Context
	AcquireEnd   func(context.Context, AcquireEnd)
	AttemptStart func(context.Context, AttemptStart) context.Context
	AttemptEnd   func(context.Context, AttemptEnd)
	NodeStart    func(context.Context, NodeStart) context.Context
	NodeEnd      func(context.Context, NodeEnd)
	NodeRestart  func(context.Context, NodeRestart)
	Deadlock     func(context.Context, lock.DeadlockError)
	WaitStart    func(context.Context, WaitStart) context.Context
	WaitEnd      func(context.Context, WaitEnd)
	RenewStart   func(context.Context, RenewStart) context.Context
	RenewEnd     func(context.Context, RenewEnd)
	ReleaseStart func(context.Context, ReleaseStart) context.Context
	ReleaseEnd   func(context.Context, ReleaseEnd)
}

// With returns a context whose acquisitions report to t, after the traces that ctx already
// has. A nil t returns ctx.
func With(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	outer, _ := ctx.Value(carried.Traces{}).([]*Trace)
	return context.WithValue(ctx, carried.Traces{}, append(outer[:len(outer):len(outer)], t))
}

// WithTraceparent returns a context that carries a W3C traceparent. Acquire writes it into the
// lock, so that callers that are refused can link to this trace.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, carried.Traceparent{}, traceparent)
}
