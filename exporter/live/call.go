package live

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// doingAttempt stands beside the kinds of wait; kindAttempt is how it is told.
const (
	doingAttempt lock.WaitKind = ""
	kindAttempt  string        = "attempt"
)

// call is one Acquire and the lease that comes of it, as the hooks know it. It is
// also the context that Acquire hands on: the caller's, with the hooks added.
type call struct {
	context.Context
	owner    *locker
	shard    *shard
	resource string
	began    time.Time

	mu       sync.Mutex
	hooked   bool // the wrapped Locker calls hooks
	noWait   bool // known if hooked
	trace    trace.TraceID
	doing    lock.WaitKind
	attempts int
	ahead    int
	blocker  *lock.HeldError // whom it waits for, or waited for before this attempt
	toldAt   time.Time       // of blocker
	lastErr  error           // of the last attempt, unless it was refused
	known    nodeSet         // nodes that know the lock
	extends  int
	steps    *buffer // nil until the first step, and once the call is over
	over     bool
	kept     *kept // where stragglers go; nil unless the call is among the slowest
}

// callKey finds the call of one locker in a context.
type callKey struct{ owner *locker }

// Value implements context.Context. A context that lock.WithTrace returns would
// do instead of the second case, for three allocations more.
func (c *call) Value(key any) any {
	if key == (callKey{c.owner}) {
		return c
	}
	if hooks := c.owner.told.Value(key); hooks != nil {
		if c.Context.Value(key) == nil {
			return hooks
		}
		return lock.WithTrace(c.Context, c.owner.hooks).Value(key)
	}
	return c.Context.Value(key)
}

func (l *locker) callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{l}).(*call)
	return c
}

func (c *call) isHooked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hooked
}

// tries reports that the call does not wait.
func (c *call) tries(opts []lock.AcquireOption) bool {
	c.mu.Lock()
	hooked, noWait := c.hooked, c.noWait
	c.mu.Unlock()
	if hooked {
		return noWait
	}
	return lock.NewAcquireOptions(opts...).NoWait
}

// end takes the steps away from the hooks. If they are wanted, stragglers go to
// the record that is returned, which is locked until it is filled.
func (c *call) end(wanted bool) (*buffer, *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steps := c.steps
	c.steps, c.over = nil, true
	if wanted {
		c.kept = &kept{trace: c.trace}
		c.kept.mu.Lock()
	}
	return steps, c.kept
}

// forget is the end of a call of which nothing is recorded.
func (c *call) forget() {
	steps, _ := c.end(false)
	c.owner.board.recycle(steps)
}

// record adds a step that ends now. mu must be held.
func (c *call) record(s step) {
	switch {
	case c.kept != nil:
		c.kept.addLate(s)
	case !c.over && c.owner.board.cfg.slowest > 0:
		if c.steps == nil {
			c.steps = c.owner.board.buffers.Get().(*buffer)
		}
		c.steps.add(s)
	}
}

// startOf is when something began that has taken that long by now.
func (c *call) startOf(now time.Time, took time.Duration) time.Duration {
	return max(now.Sub(c.began)-took, 0)
}

// leaseContext is the context of a lease as its holder sees it. The hooks are
// hidden: were they seen, whatever the holder locks inside would be taken for a
// part of this call.
type leaseContext struct {
	context.Context
	caller context.Context
	owner  *locker
}

// Value implements context.Context.
func (c *leaseContext) Value(key any) any {
	if key == (callKey{c.owner}) || c.owner.told.Value(key) != nil {
		return c.caller.Value(key)
	}
	return c.Context.Value(key)
}
