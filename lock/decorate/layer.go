package decorate

import (
	"context"
	"github.com/lockscope/lockscope/lock/locktrace"
	"sync"
)

// Layer is one decorator around a Locker. It keeps its calls apart from those of other decorators. Make
// one with [NewLayer]. It is safe for concurrent use.
type Layer struct {
	trace *locktrace.Trace
	// traced is an empty context with trace installed; added also has every value that a
	// Call adds. They know keys whose types are not exported.
	traced, added context.Context
	// watches pools the watches whose AfterFunc was stopped before it ran.
	watches sync.Pool
}

// layerKey finds the call of one layer in a context.
type layerKey struct{ layer *Layer }

// NewLayer returns the layer of a decorator whose calls report to hooks, beside the traces of their
// callers. The hooks are copied; nil means none.
//
// Each of adds adds values to a context as the decorator does to its calls (see [Call]). Only their keys
// matter: the holder of a lease sees its own values under these keys.
func NewLayer(hooks *locktrace.Trace, adds ...func(context.Context) context.Context) *Layer {
	l := &Layer{trace: hooks}
	if hooks != nil {
		own := *hooks
		own.AcquireStart = l.noteStart(hooks.AcquireStart)
		l.trace = &own
	}
	l.traced = locktrace.With(context.Background(), l.trace)
	l.added = l.traced
	for _, add := range adds {
		l.added = add(l.added)
	}
	l.watches.New = func() any { return newWatch() }
	return l
}

// noteStart records in the call that hooks are called, then calls next.
func (l *Layer) noteStart(next func(context.Context, locktrace.AcquireStart) context.Context) func(context.Context,
	locktrace.AcquireStart) context.Context {
	return func(ctx context.Context, e locktrace.AcquireStart) context.Context {
		if c := l.call(ctx); c != nil {
			c.note(e)
		}
		if next == nil {
			return ctx
		}
		return next(ctx, e)
	}
}

// Find returns the state of the call that ctx belongs to, as given to [Call.Start]. ctx is typically
// the context of a hook: of Acquire, or of the lease's renewals, Extends and Releases. Find returns nil
// if ctx belongs to no call of this layer.
func (l *Layer) Find(ctx context.Context) any {
	if c := l.call(ctx); c != nil {
		return c.state
	}
	return nil
}

func (l *Layer) call(ctx context.Context) *Call {
	c, _ := ctx.Value(layerKey{l}).(*Call)
	return c
}

// hides reports whether the holder of a lease must not see the layer's value.
func (l *Layer) hides(key any) bool {
	return key == (layerKey{l}) || l.added.Value(key) != nil
}
