package live

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// doingAttempt stands beside the kinds of wait; kindAttempt is how it is told.
const (
	doingAttempt lock.WaitKind = ""
	kindAttempt  string        = "attempt"
)

// call is one Acquire and the lease that comes of it, as the hooks know it. It is
// also the context that Acquire hands on: the caller's, with the hooks added.
type call struct {
	decorate.Call
	owner    *locker
	shard    *shard
	resource string
	began    time.Time

	mu       sync.Mutex
	backend  string // "" until a hook has said so
	trace    trace.TraceID
	doing    lock.WaitKind
	attempts int
	ahead    int
	blocker  *lock.HeldError // whom it waits for, or waited for before this attempt
	toldAt   time.Duration   // of blocker, after began
	asOf     time.Duration   // after began: when the last attempt to be refused did
	tried    time.Duration   // after began: when the last attempt did
	origin   *origin         // nil if nothing is known of it
	lastErr  error           // of the last attempt, unless it was refused
	known    nodeSet         // nodes that know the lock
	extends  int
	steps    *buffer // nil until the first step, and once the call is over
	over     bool
	kept     *kept // where stragglers go; nil unless the call is among the slowest
}

// origin is where a call was made, and what its caller holds while it waits. Most calls
// have none: it is kept apart.
type origin struct {
	callSite string
	holding  []lock.Held
}

func (l *locker) callOf(ctx context.Context) *call {
	c, _ := l.layer.Find(ctx).(*call)
	return c
}

// end takes the steps away from the hooks. If they are wanted, stragglers go to
// the record that is returned, which is locked until it is filled.
func (c *call) end(wanted bool) (*buffer, *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steps := c.steps
	c.steps, c.over = nil, true
	if wanted {
		c.kept = &kept{trace: c.trace, backend: c.backend}
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

// from is where the call was made, if that is known. mu must be held.
func (c *call) from() origin {
	if c.origin == nil {
		return origin{}
	}
	return *c.origin
}

// startOf is when something began that has taken that long by now.
func (c *call) startOf(now time.Time, took time.Duration) time.Duration {
	return max(now.Sub(c.began)-took, 0)
}
