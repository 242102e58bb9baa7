package decorate

import (
	"context"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
)

// Call is one Acquire of a decorator: the context that it hands to the next Locker, which
// is its caller's with the hooks of its [Layer] added. A decorator that adds values of its
// own replaces Context between Start and that Acquire, and tells NewLayer of their keys.
//
// A Call must not be copied. Embed it in what a decorator knows of an Acquire, and that in
// its lease, and all of them are one allocation. It is safe for concurrent use.
type Call struct {
	context.Context
	caller context.Context
	layer  *Layer
	state  any
	noted  atomic.Uint32
}

// What a call has noted of its AcquireStart.
const (
	notedHook   = 1 << iota // there was one
	notedNoWait             // the call does not wait
)

// Start begins the call for a caller's ctx. [Layer.Find] returns state, a pointer to what
// the Call is embedded in perhaps.
func (c *Call) Start(ctx context.Context, l *Layer, state any) {
	c.Context, c.caller, c.layer, c.state = ctx, ctx, l, state
}

// Value implements context.Context.
func (c *Call) Value(key any) any {
	if key == (layerKey{c.layer}) {
		return c
	}
	// A context that lock.WithTrace returns would do instead, for three allocations more.
	if hooks := c.layer.traced.Value(key); hooks != nil {
		if c.Context.Value(key) == nil {
			return hooks
		}
		return lock.WithTrace(c.Context, c.layer.trace).Value(key)
	}
	return c.Context.Value(key)
}

func (c *Call) note(e lock.AcquireStart) {
	noted := uint32(notedHook)
	if e.Options.NoWait {
		noted |= notedNoWait
	}
	c.noted.Store(noted)
}

// Hooked reports that the next Locker has called a hook of this call. One that calls none
// leaves it to the decorator to count what hooks would be told: Extends, for one.
func (c *Call) Hooked() bool { return c.noted.Load() != 0 }

// NoWait reports that the call does not wait for the lock, as the next Locker told a hook;
// without one, as opts say, which are those given to Acquire.
func (c *Call) NoWait(opts []lock.AcquireOption) bool {
	if noted := c.noted.Load(); noted != 0 {
		return noted&notedNoWait != 0
	}
	return lock.NewAcquireOptions(opts...).NoWait
}

// CallContext is a caller's context in which hooks find a Call that it does not descend
// from: that of the lease, in its Extend and Release.
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
