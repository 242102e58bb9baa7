package live

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// locker records on a Board what another Locker does.
type locker struct {
	board    *Board
	next     lock.Locker
	instance string
	layer    *decorate.Layer
}

var _ lock.Locker = (*locker)(nil)

// Acquire implements lock.Locker: it returns what the wrapped Locker returns, with
// a lease that is on the Board until its release or its end.
func (l *locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	// One allocation for the context next gets and the lease that may come of it.
	m := &lease{call: call{owner: l, resource: resource, began: time.Now()}}
	m.call.Start(ctx, l.layer, &m.call)
	m.shard = l.board.shardOf(resource)
	m.call.readTrace(ctx)
	m.shard.wait(m)
	defer m.abandoned()
	inner, err := l.next.Acquire(&m.call, resource, opts...)
	m.returned = true
	if err != nil || inner == nil {
		m.shard.drop(m)
		m.call.finish(err, m.call.failure(err, opts))
		return inner, err
	}
	m.Begin(&m.Call, inner, m)
	m.heldAt = m.call.finish(nil, false)
	m.shard.hold(m)
	m.Watch()
	return m, nil
}

// abandoned forgets a call that panicked or ended its goroutine.
func (m *lease) abandoned() {
	if !m.returned {
		m.shard.drop(m)
		m.call.forget()
	}
}

// readTrace finds the span around the call: the caller's at first, then that of a
// decorator inside, if there is one.
func (c *call) readTrace(ctx context.Context) {
	defer contain()
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.trace = sc.TraceID()
	}
}

// failure reports that a call failed; a NoWait call that finds the lock held did not.
func (c *call) failure(err error, opts []lock.AcquireOption) (failed bool) {
	failed = true
	defer contain()
	return lock.ReasonOf(err) != lock.ReasonHeld || !c.NoWait(opts)
}

// finish records the end of an Acquire, and returns when that was.
func (c *call) finish(err error, failed bool) time.Time {
	now := time.Now()
	b, took := c.owner.board, now.Sub(c.began)
	b.waits.record(now, took, failed)
	steps, k := c.end(b.slowest.wants(now, took))
	if k != nil {
		k.fill(c, steps, now, took, err)
		b.slowest.keep(now, k)
	}
	b.recycle(steps)
	return now
}
