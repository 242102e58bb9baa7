package instrument

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// lease measures a lock.Lease.
type lease struct {
	call    call
	next    lock.Lease
	user    leaseContext
	waited  time.Duration // from call.began
	watch   *watch
	unwatch func() bool

	released atomic.Bool
	ended    atomic.Bool
}

var _ lock.Lease = (*lease)(nil)

func (m *lease) Resource() string         { return m.next.Resource() }
func (m *lease) Context() context.Context { return &m.user }
func (m *lease) Fence() uint64            { return m.next.Fence() }
func (m *lease) Remaining() time.Duration { return m.next.Remaining() }

// Extend implements lock.Lease. The round is counted by the hook if the Locker
// has hooks, like the rounds of automatic renewal.
func (m *lease) Extend(ctx context.Context) error {
	r := &renewal{Context: ctx, call: &m.call, byHand: true}
	l := m.call.owner
	if m.call.traced() {
		l.startExtendByHand(r)
	}
	err := m.next.Extend(r)
	if !m.call.hooked() {
		m.call.series.extensions[extensionOf(err)].Inc()
	}
	if r.span != nil {
		l.endExtend(r, extensionOf(err), m.next.Remaining(), err)
	}
	return err
}

// Release implements lock.Lease.
func (m *lease) Release(ctx context.Context) error {
	if !m.released.CompareAndSwap(false, true) {
		return m.next.Release(ctx)
	}
	m.stopWatch()
	l := m.call.owner
	var span trace.Span
	switch {
	case m.call.traced():
		ctx, span = l.startRelease(ctx, m)
	case m.call.filtered():
		ctx = context.WithValue(ctx, callKey{l}, &m.call)
	}
	err := m.next.Release(ctx)
	if span != nil {
		l.endRelease(span, m.held(), err)
	}
	m.end(context.Cause(m.next.Context()), trace.SpanContextFromContext(ctx))
	if err != nil {
		m.call.series.releaseFailures.Inc()
		l.logRelease(ctx, m, err)
	}
	return err
}

func (m *lease) held() time.Duration { return time.Since(m.call.began) - m.waited }

// end ends the hold, once: with the release, or before it with the lease's context.
func (m *lease) end(cause error, sc trace.SpanContext) {
	if !m.ended.CompareAndSwap(false, true) {
		return
	}
	s := m.call.series
	s.held.Dec()
	observe(s.hold, m.held(), sc)
	switch {
	case errors.Is(cause, lock.ErrLost):
		m.lost(m.call.lossReason())
	case errors.Is(cause, lock.ErrMaxHold):
		m.lost(maxHold)
	}
}

func (m *lease) lost(why loss) {
	m.call.series.lost[why].Inc()
	m.call.owner.logLost(m, why)
}

// watch waits for a lease's context to end. It is used again once it was stopped
// before it ran: making its func value is an allocation.
type watch struct {
	lease *lease
	run   func()
}

func newWatch(l *Locker) *watch {
	w := new(watch)
	w.run = func() {
		defer l.contain()
		w.lease.end(context.Cause(w.lease.next.Context()), w.lease.call.spanContext())
	}
	return w
}

func (m *lease) startWatch() {
	w := m.call.owner.watches.Get().(*watch)
	w.lease, m.watch = m, w
	m.unwatch = context.AfterFunc(m.next.Context(), w.run)
}

func (m *lease) stopWatch() {
	if m.unwatch() { // it has not run and never will
		m.watch.lease = nil
		m.call.owner.watches.Put(m.watch)
	}
	m.watch = nil
}

// leaseContext is the context of a lease as its holder sees it. What the decorator
// added for the wrapped Locker is hidden: were it seen, whatever the holder locks
// inside would be measured twice, and its spans would have an ended one as parent.
type leaseContext struct {
	context.Context
	caller context.Context
	owner  *Locker
}

// Value implements context.Context.
func (c *leaseContext) Value(key any) any {
	if key == (callKey{c.owner}) || c.owner.hidden.Value(key) != nil {
		return c.caller.Value(key)
	}
	return c.Context.Value(key)
}

// hide returns a context with all the values that a call adds to its caller's.
func hide(ctx context.Context) context.Context {
	return trace.ContextWithSpan(lock.WithTraceparent(ctx, "hidden"), trace.SpanFromContext(ctx))
}
