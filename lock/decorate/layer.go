package decorate

import (
	"context"
	"sync"

	"github.com/lockscope/lockscope/lock"
)

// Layer is one decorator among those around a Locker: it keeps its calls apart from
// theirs. Its zero value is not usable: see [NewLayer]. It is safe for concurrent use.
type Layer struct {
	trace *lock.Trace
	// traced is an empty context in which trace is installed, and added one with every
	// value that a Call adds to its caller's: they know keys whose types are not exported.
	traced, added context.Context
	// watches keeps those whose AfterFunc was stopped before it ran.
	watches sync.Pool
}

// layerKey finds the call of one layer in a context.
type layerKey struct{ layer *Layer }

// NewLayer makes the layer of a decorator whose calls report to hooks, beside the traces
// that their callers have installed. The hooks are copied; nil is none.
//
// Each of adds puts values into a context as the decorator does into its calls, besides
// the hooks (see [Call]). Only the keys count: those who hold a lease see their own
// values under them.
func NewLayer(hooks *lock.Trace, adds ...func(context.Context) context.Context) *Layer {
	l := &Layer{trace: hooks}
	if hooks != nil {
		own := *hooks
		own.AcquireStart = l.noteStart(hooks.AcquireStart)
		l.trace = &own
	}
	l.traced = lock.WithTrace(context.Background(), l.trace)
	l.added = l.traced
	for _, add := range adds {
		l.added = add(l.added)
	}
	l.watches.New = func() any { return newWatch() }
	return l
}

// noteStart makes a call know that hooks are called, before next is.
func (l *Layer) noteStart(next func(context.Context, lock.AcquireStart) context.Context) func(context.Context,
	lock.AcquireStart) context.Context {
	return func(ctx context.Context, e lock.AcquireStart) context.Context {
		if c := l.call(ctx); c != nil {
			c.note(e)
		}
		if next == nil {
			return ctx
		}
		return next(ctx, e)
	}
}

// Find returns the state that the call was started with to which ctx belongs, the context
// of a hook perhaps: of its Acquire, and of the renewals, Extends and Releases of its lease.
// It is nil if ctx belongs to no call of this layer.
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

// hides reports that a value is not for those who hold a lease.
func (l *Layer) hides(key any) bool {
	return key == (layerKey{l}) || l.added.Value(key) != nil
}
