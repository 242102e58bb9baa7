package spans

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// releaseKey finds the span of a release of one decorator in a context.
type releaseKey struct{ owner *Tracer }

// StartRelease returns a nil span if there should be none, or the tracer panics.
func (t *Tracer) StartRelease(ctx context.Context, c *Call) (next context.Context, span trace.Span) {
	next = ctx
	defer t.cfg.Panics.Contain()
	parent, opts, ok := t.later(ctx, c, attrResource.String(c.resource))
	if !ok {
		return ctx, nil
	}
	inner, span := t.tracer.Start(parent, "lock.release", opts...)
	if span.IsRecording() {
		inner = context.WithValue(inner, releaseKey{t}, span)
	}
	return inner, span
}

// ReleaseEnd adds what only the wrapped Locker knows: how many nodes released, or that none was asked.
func (t *Tracer) ReleaseEnd(ctx context.Context, e locktrace.ReleaseEnd) {
	if span, ok := ctx.Value(releaseKey{t}).(trace.Span); ok {
		span.SetAttributes(attrVotes.Int(e.Granted))
		if e.HandedOver {
			span.SetAttributes(attrHandedOver.Bool(true))
		}
	}
}

// EndRelease ends the span of a release.
func (t *Tracer) EndRelease(span trace.Span, hold time.Duration, err error) {
	defer t.cfg.Panics.Contain()
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attrHold.Float64(hold.Seconds()), attrOutcome.String(string(outcome.OfRelease(err))))
	if err != nil {
		fail(span, string(lock.ReasonOf(err)))
	}
}

// StartRenewal starts the span of a round of automatic renewal. It is a child of the span that acquired, which has
// ended, and so is recorded if that was. Without such a span it returns nil.
func (t *Tracer) StartRenewal(ctx context.Context, c *Call) (context.Context, trace.Span) {
	if c.span == nil || !c.span.SpanContext().IsSampled() {
		return ctx, nil
	}
	opts := t.options(c.own, c.extendAttributes()...)
	return t.tracer.Start(trace.ContextWithSpan(ctx, c.span), "lock.extend", opts...)
}

// StartExtend starts the span of an Extend, which belongs to its caller's trace. It returns a nil span if there
// should be none, or the tracer panics.
func (t *Tracer) StartExtend(ctx context.Context, c *Call) (next context.Context, span trace.Span) {
	next = ctx
	defer t.cfg.Panics.Contain()
	parent, opts, ok := t.later(ctx, c, c.extendAttributes()...)
	if !ok {
		return ctx, nil
	}
	return t.tracer.Start(parent, "lock.extend", opts...)
}

func (c *Call) extendAttributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attrResource.String(c.resource)}
	if ttl := c.ttl.Load(); ttl > 0 {
		attrs = append(attrs, attrTTL.Float64(time.Duration(ttl).Seconds()))
	}
	return attrs
}

// Extended is the end of a round of renewal.
type Extended struct {
	Outcome outcome.Extension
	Left    time.Duration // of the lease's validity
	Err     error
	ByHand  bool // the round is a caller's Extend
}

// EndExtend ends the span of a round.
func (t *Tracer) EndExtend(span trace.Span, e Extended) {
	defer t.cfg.Panics.Contain()
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attrOutcome.String(e.Outcome.String()), attrValidity.Float64(max(0, e.Left.Seconds())))
	if e.Err != nil && (e.Outcome != outcome.ExtendOvertaken || e.ByHand) {
		fail(span, string(lock.ReasonOf(e.Err)))
	}
}

// later finds the place of a span of a later call on the lease: in its caller's trace, with a link to the span that
// acquired, or without such a trace below that span. If neither is recorded there is none: it would be the root of
// its own trace.
func (t *Tracer) later(
	ctx context.Context, c *Call, attrs ...attribute.KeyValue,
) (parent context.Context, opts []trace.SpanStartOption, ok bool) {
	opts = t.options(c.own, attrs...)
	acquired := c.span.SpanContext()
	switch {
	case !trace.SpanContextFromContext(ctx).IsValid():
		return trace.ContextWithSpan(ctx, c.span), opts, acquired.IsSampled()
	case acquired.IsSampled():
		opts = append(opts, trace.WithLinks(trace.Link{
			SpanContext: acquired, Attributes: []attribute.KeyValue{attrRelation.String("acquire")},
		}))
	}
	return ctx, opts, true
}
