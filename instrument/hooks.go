package instrument

import (
	"context"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// hooks report what only the algorithm knows.
type hooks struct{ *observers }

// trace leaves out the hooks that only tracing needs if nothing is traced.
func (h hooks) trace() *locktrace.Trace {
	t := &locktrace.Trace{
		AcquireStart: h.onAcquireStart,
		AcquireEnd:   h.onAcquireEnd,
		AttemptEnd:   h.onAttemptEnd,
		NodeEnd:      h.onNodeEnd,
		NodeRestart:  h.onNodeRestart,
		Deadlock:     h.onDeadlock,
		WaitStart:    h.onWaitStart,
		WaitEnd:      h.onWaitEnd,
		RenewStart:   h.onRenewStart,
		RenewEnd:     h.onRenewEnd,
	}
	if h.spans != nil {
		t.ReleaseEnd = h.onReleaseEnd
	}
	if h.spans.Nodes() {
		t.NodeStart = h.onNodeStart
	}
	return t
}

func (h hooks) onAcquireStart(ctx context.Context, e locktrace.AcquireStart) context.Context {
	defer h.panics.Contain()
	h.metrics.Asked(e)
	if c := callOf(ctx, h.layer); c != nil {
		c.counted.Start(e)
		c.traced.AcquireStart(e)
		c.kind = e.Options.Kind
	}
	return ctx
}

func (h hooks) onAcquireEnd(ctx context.Context, e locktrace.AcquireEnd) {
	if !e.HandedOver {
		return
	}
	defer h.panics.Contain()
	if c := callOf(ctx, h.layer); c != nil {
		c.counted.HandedOver()
		c.traced.HandedOver()
		c.validity.Store(int64(e.Validity))
	}
}

func (h hooks) onAttemptEnd(ctx context.Context, e locktrace.AttemptEnd) {
	defer h.panics.Contain()
	if c := callOf(ctx, h.layer); c != nil {
		c.counted.AttemptEnd(e)
		c.traced.AttemptEnd(e)
		if e.Err == nil {
			c.validity.Store(int64(e.Validity))
		}
	}
}

func (h hooks) onNodeStart(ctx context.Context, e locktrace.NodeStart) (next context.Context) {
	next = ctx
	defer h.panics.Contain()
	return h.spans.StartNode(ctx, tracedOf(callOf(ctx, h.layer)), e)
}

func (h hooks) onNodeEnd(ctx context.Context, e locktrace.NodeEnd) {
	defer h.panics.Contain()
	news := h.metrics.NodeEnd(e, h.owner)
	if news.ClockOff {
		h.log.ClockOff(ctx, e)
	}
	if news.Evicts {
		h.log.Evicts(ctx, e)
	}
	c := callOf(ctx, h.layer)
	if h.spans.Nodes() {
		h.spans.EndNode(ctx, tracedOf(c), e)
	}
	if c != nil {
		c.counted.NodeEnd(e)
	}
}

// tracedOf returns nil for a command that belongs to no call.
func tracedOf(c *call) *spans.Call {
	if c == nil {
		return nil
	}
	return &c.traced
}

func (h hooks) onNodeRestart(ctx context.Context, e locktrace.NodeRestart) {
	defer h.panics.Contain()
	h.metrics.NodeRestart(e)
	h.log.Restart(ctx, e)
}

func (h hooks) onDeadlock(ctx context.Context, e lock.DeadlockError) {
	defer h.panics.Contain()
	if c := callOf(ctx, h.layer); c != nil {
		c.counted.Deadlock()
		c.log.Deadlock(c.subject(), e)
		c.traced.Deadlock(e)
	}
}

func (h hooks) onWaitStart(ctx context.Context, e locktrace.WaitStart) (next context.Context) {
	next = ctx
	defer h.panics.Contain()
	c := callOf(ctx, h.layer)
	if c == nil {
		return ctx
	}
	h.waits.Begin(&c.waiting, c.counted.Began(), c)
	c.counted.WaitStart(e)
	if e.Blocker != nil {
		c.blocker.Store(e.Blocker)
	}
	h.waits.Note(&c.waiting, c.counted.Resource(), c.counted.Began(), e)
	return h.spans.StartWait(ctx, &c.traced, e)
}

func (h hooks) onWaitEnd(ctx context.Context, e locktrace.WaitEnd) {
	defer h.panics.Contain()
	if c := callOf(ctx, h.layer); c != nil {
		c.counted.WaitEnd(e)
	}
	h.spans.EndWait(ctx, e)
}

func (h hooks) onRenewStart(ctx context.Context, e locktrace.RenewStart) (next context.Context) {
	next = ctx
	defer h.panics.Contain()
	c := callOf(ctx, h.layer)
	if c == nil {
		return ctx
	}
	c.counted.RenewStart()
	if renewalOf(ctx, h.observers) != nil { // the span is that of Extend
		return ctx
	}
	inner, span := h.spans.StartRenewal(ctx, &c.traced)
	if span == nil {
		return ctx
	}
	r := newRenewal(inner, c)
	r.span = span
	return r
}

func (h hooks) onRenewEnd(ctx context.Context, e locktrace.RenewEnd) {
	defer h.panics.Contain()
	c := callOf(ctx, h.layer)
	if c == nil {
		return
	}
	out := outcome.OfRenewal(e.Outcome)
	c.counted.RenewEnd(out)
	if r := renewalOf(ctx, h.observers); r != nil && r.span != nil && !r.byHand {
		h.spans.EndExtend(r.span, spans.Extended{Outcome: out, Left: e.Left, Err: e.Err})
	}
	if out == outcome.ExtendError {
		c.log.Renewal(ctx, c.subject(), &c.told, e)
	}
}

func (h hooks) onReleaseEnd(ctx context.Context, e locktrace.ReleaseEnd) {
	defer h.panics.Contain()
	h.spans.ReleaseEnd(ctx, e)
}
