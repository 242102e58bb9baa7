package instrument

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// lease measures a lock.Lease.
type lease struct {
	decorate.Lease
	call call
}

var (
	_ lock.Lease     = (*lease)(nil)
	_ decorate.Ender = (*lease)(nil)
)

// acquired measures a success.
func (m *lease) acquired(inner lock.Lease) {
	c := &m.call
	m.Begin(&c.Call, inner, m)
	validity := time.Duration(c.validity.Load())
	if validity == 0 { // no hook reported it
		validity = inner.Remaining()
	}
	if got := inner.Resource(); got != c.counted.Resource() {
		c.counted.Got(got)
	}
	c.counted.Acquired(validity, c.spanContext())
	c.counted.Hold(inner, decorate.FenceOf)
	c.endWait(outcome.Acquired)
	c.spans.EndAcquire(&c.traced, spans.Acquired{
		Outcome: outcome.Acquired, Validity: validity, Hooked: c.Hooked(),
	})
	m.Watch()
}

// Fence implements lock.Lease, and counts as the use of the token.
func (m *lease) Fence() uint64 {
	m.call.counted.ReadFence()
	return m.Lease.Fence()
}

// Extend implements lock.Lease. If the Locker has hooks, the hook counts the round, as for automatic renewal.
func (m *lease) Extend(ctx context.Context) error {
	c := &m.call
	r := newRenewal(ctx, c)
	r.byHand = true
	if c.traced.Traced() {
		r.Context, r.span = c.spans.StartExtend(ctx, &c.traced)
	}
	err := m.Next().Extend(r)
	out := outcome.OfExtend(err)
	if !c.Hooked() {
		c.counted.Extended(out)
	}
	if r.span != nil {
		end := spans.Extended{Outcome: out, Left: m.Remaining(), Err: err, ByHand: true}
		c.spans.EndExtend(r.span, end)
	}
	return err
}

// Release implements lock.Lease.
func (m *lease) Release(ctx context.Context) error {
	if !m.StartRelease() {
		return m.Next().Release(ctx)
	}
	c := &m.call
	c.counted.Released(m.Remaining())
	var span trace.Span
	switch {
	case c.traced.Traced():
		ctx, span = c.spans.StartRelease(ctx, &c.traced)
		ctx = &decorate.CallContext{Context: ctx, Call: &c.Call}
	case c.spans.Leaves(&c.traced):
		ctx = &decorate.CallContext{Context: ctx, Call: &c.Call}
	}
	err := m.Next().Release(ctx)
	if span != nil {
		c.spans.EndRelease(span, c.counted.HeldFor(), err)
	}
	m.End(ctx)
	if err != nil {
		c.counted.ReleaseFailed()
		c.log.Release(ctx, c.subject(), m.Next(), c.counted.HeldFor(), err)
	}
	return err
}

// Ended implements decorate.Ender. It ends the hold with the release, or before that with the lease's context.
func (m *lease) Ended(ctx context.Context, cause error) {
	c := &m.call
	defer c.panics.Contain()
	if why, lost := c.counted.Ended(cause, trace.SpanContextFromContext(ctx)); lost {
		c.log.Lost(c.subject(), &c.told, m.Next(), c.counted.HeldFor(), why)
	}
}
