package decorate

import (
	"context"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Call is one Acquire of a decorator, and the context for the next Locker: the caller's context with the
// hooks of the [Layer] added. A decorator that adds values of its own replaces Context between Start
// and that Acquire, and gives their keys to NewLayer.
//
// A Call must not be copied. It is safe for concurrent use. Embed it in the decorator's lease, so that
// both are one allocation.
type Call struct {
	context.Context
	caller context.Context
	layer  *Layer
	state  any
	noted  atomic.Uint32
}

// Bits that a call keeps of its AcquireStart.
const (
	notedHook   = 1 << iota // there was one
	notedNoWait             // the call does not wait
)

// Start begins the call for a caller's ctx. [Layer.Find] returns state, such as a pointer to the struct
// that embeds the Call.
func (c *Call) Start(ctx context.Context, l *Layer, state any) {
	c.Context, c.caller, c.layer, c.state = ctx, ctx, l, state
}

// Value implements context.Context.
func (c *Call) Value(key any) any {
	if key == (layerKey{c.layer}) {
		return c
	}
	// A context that locktrace.With returns would do instead, for three allocations more.
	if hooks := c.layer.traced.Value(key); hooks != nil {
		if c.Context.Value(key) == nil {
			return hooks
		}
		return locktrace.With(c.Context, c.layer.trace).Value(key)
	}
	return c.Context.Value(key)
}

func (c *Call) note(e locktrace.AcquireStart) {
	noted := uint32(notedHook)
	if e.Options.NoWait {
		noted |= notedNoWait
	}
	c.noted.Store(noted)
}

// Hooked reports whether the next Locker has called a hook of this call. If it calls none, the decorator
// has to count events such as Extend itself.
func (c *Call) Hooked() bool { return c.noted.Load() != 0 }

// NoWait reports whether the call does not wait for the lock. The next Locker's AcquireStart hook decides
// if there was one, else opts, the options given to Acquire.
func (c *Call) NoWait(opts []lock.AcquireOption) bool {
	if noted := c.noted.Load(); noted != 0 {
		return noted&notedNoWait != 0
	}
	return lock.NewAcquireOptions(opts...).NoWait
}

// CallContext is the context of Extend or Release, in which hooks find the Call of the lease.
type CallContext struct {
	context.Context
	Call *Call
}

// Value implements context.Context.
func (c *CallContext) Value(key any) any {
	if key == (layerKey{c.Call.layer}) {
		return c.Call
	}
	return c.Context.Value(key)
}
