package instrument

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// call is one Acquire and the lease that comes of it, as the hooks know it. It is
// also the context that Acquire hands on: the caller's, with the span, the
// traceparent and the hooks added.
type call struct {
	decorate.Call
	owner    *Locker
	series   *series
	resource string
	began    time.Time
	span     trace.Span // nil if tracing is off

	nodes, quorum atomic.Int32 // zero if no hook has been called
	ttl, validity atomic.Int64 // validity of the attempt that won
	attempts      atomic.Int32
	votes         atomic.Int32 // of the last attempt
	handedOver    atomic.Bool  // by another lease of this process
	blocker       atomic.Pointer[lock.HeldError]
	renewing      atomic.Bool  // a renewal is under way, or the last one failed
	refusals      atomic.Int32 // nodes that said no to the renewal under way

	progress atomic.Int32 // of the wait
	ballot   atomic.Uint64
	waited   atomic.Bool

	mu       sync.Mutex
	longWait *time.Timer // nil until the first wait
	over     bool        // Acquire is about to return
	lost     bool        // the lease, and that was told
	links    []string    // traceparents the span links to

	unreleased map[unreleased]bool // what has a span already
}

func (l *Locker) callOf(ctx context.Context) *call {
	c, _ := l.layer.Find(ctx).(*call)
	return c
}

// spanContext is of the acquire span, or of the caller's span if tracing is off.
func (c *call) spanContext() trace.SpanContext {
	if c.span != nil {
		return c.span.SpanContext()
	}
	return trace.SpanContextFromContext(c.Context)
}

// traced reports that the acquire span is more than a stand-in of a provider that
// makes none; those of later work would be stand-ins too.
func (c *call) traced() bool { return c.span != nil && c.span.SpanContext().IsValid() }

// sampled reports that the acquire span is recorded: what follows by itself is too.
func (c *call) sampled() bool { return c.span != nil && c.span.SpanContext().IsSampled() }

// filtered reports that nothing of this call is to have a span.
func (c *call) filtered() bool { return c.span == nil && c.owner.tracing != nil }

// start takes over what the wrapped Locker knew: its size and its own defaults.
func (c *call) start(e lock.AcquireStart) {
	c.nodes.Store(int32(e.Nodes))
	c.quorum.Store(int32(e.Quorum))
	c.ttl.Store(int64(e.Options.TTL))
}

// A ballot counts the votes of one attempt, those that come too late to decide
// included: its number, and how many nodes have answered and granted.
const (
	ballotAttempt  = 32 // bits by which it is shifted
	ballotAnswered = 16
	ballotMask     = 1<<ballotAnswered - 1
)

// vote counts one. The margin is known when every node has had its say; a set of one or two
// has none to lose.
func (c *call) vote(attempt int, granted bool) {
	if c.nodes.Load() <= c.quorum.Load() {
		return
	}
	for {
		old := c.ballot.Load()
		ballot, current := old, int(old>>ballotAttempt)
		switch {
		case attempt < current:
			return
		case attempt > current:
			ballot = uint64(attempt) << ballotAttempt
		}
		ballot += 1 << ballotAnswered
		if granted {
			ballot++
		}
		if !c.ballot.CompareAndSwap(old, ballot) {
			continue
		}
		answered, margin := int32(ballot>>ballotAnswered&ballotMask), int32(ballot&ballotMask)-c.quorum.Load()
		if answered == c.nodes.Load() && margin >= 0 {
			c.owner.metrics.margin.Observe(float64(margin))
		}
		return
	}
}

// armLongWait makes sure that this wait is told of while it still goes on.
func (c *call) armLongWait() {
	if c.owner.longWait <= 0 {
		return
	}
	c.waited.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.longWait == nil && !c.over {
		c.longWait = time.AfterFunc(c.owner.longWait-time.Since(c.began), c.waitsLong)
	}
}

// waits reports that the call waits: it has begun to, and Acquire has not returned.
func (c *call) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.longWait != nil && !c.over
}

func (c *call) stopLongWait() {
	if !c.waited.Load() {
		return
	}
	defer c.owner.waits.remove(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.longWait != nil {
		c.longWait.Stop()
	}
}

func (c *call) waitsLong() {
	defer c.owner.contain()
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over {
		return
	}
	c.series.longWait.Inc()
	c.owner.logLongWait(c)
}

// lossReason says why a lease was lost, as far as the renewals tell.
func (c *call) lossReason() loss {
	switch {
	case c.nodes.Load() > 0 && c.refusals.Load() > c.nodes.Load()-c.quorum.Load():
		return takenOver
	case c.renewing.Load():
		return extendFailed
	default:
		return expired
	}
}
