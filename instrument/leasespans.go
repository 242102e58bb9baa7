package instrument

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// releaseKey finds the span of a release of one decorator in a context.
type releaseKey struct{ owner *Locker }

// startRelease returns a nil span if there is none to be, or the tracer panics.
func (l *Locker) startRelease(ctx context.Context, m *lease) (next context.Context, span trace.Span) {
	next = ctx
	defer l.contain()
	parent, opts, ok := m.call.laterSpan(ctx, attrResource.String(m.call.resource))
	if !ok {
		return ctx, nil
	}
	inner, span := l.tracing.tracer.Start(parent, "lock.release", opts...)
	if span.IsRecording() {
		inner = context.WithValue(inner, releaseKey{l}, span)
	}
	return inner, span
}

// describeRelease adds what only the wrapped Locker knew: how many nodes let go, or that none
// was asked.
func (l *Locker) describeRelease(ctx context.Context, e lock.ReleaseEnd) {
	if span, ok := ctx.Value(releaseKey{l}).(trace.Span); ok {
		span.SetAttributes(attrVotes.Int(e.Granted))
		if e.HandedOver {
			span.SetAttributes(attrHandedOver.Bool(true))
		}
	}
}

func (l *Locker) endRelease(span trace.Span, hold time.Duration, err error) {
	defer l.contain()
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attrHold.Float64(hold.Seconds()), attrOutcome.String(string(releaseOutcome(err))))
	if err != nil {
		fail(span, string(lock.ReasonOf(err)))
	}
}

func releaseOutcome(err error) lock.Outcome {
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok {
		return failure.Outcome
	}
	if err != nil {
		return lock.OutcomeUnknown
	}
	return lock.OutcomeReleased
}

// startRenewal is of a round of automatic renewal: a child of the span that acquired, which
// has ended, so that it is recorded if that was.
func (l *Locker) startRenewal(ctx context.Context, c *call) context.Context {
	inner, span := l.tracing.tracer.Start(trace.ContextWithSpan(ctx, c.span), "lock.extend", c.startOptions(c.extendAttributes()...)...)
	r := newRenewal(inner, c)
	r.span = span
	return r
}

// startExtendByHand is of an Extend, which belongs to its caller's trace.
func (l *Locker) startExtendByHand(r *renewal) {
	defer l.contain()
	if parent, opts, ok := r.call.laterSpan(r.Context, r.call.extendAttributes()...); ok {
		r.Context, r.span = l.tracing.tracer.Start(parent, "lock.extend", opts...)
	}
}

func (c *call) extendAttributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attrResource.String(c.resource)}
	if ttl := c.ttl.Load(); ttl > 0 {
		attrs = append(attrs, attrTTL.Float64(time.Duration(ttl).Seconds()))
	}
	return attrs
}

func (l *Locker) endExtend(r *renewal, out extension, left time.Duration, err error) {
	defer l.contain()
	defer r.span.End()
	if !r.span.IsRecording() {
		return
	}
	r.span.SetAttributes(attrOutcome.String(out.String()), attrValidity.Float64(max(0, left.Seconds())))
	if err != nil && (out != extendOvertaken || r.byHand) {
		fail(r.span, string(lock.ReasonOf(err)))
	}
}

// laterSpan is where the span of a call on the lease belongs: into its caller's trace, with a
// link to the span that acquired; without such a trace below that span. Where nobody has
// recorded that either, there is none: it would be the root of a trace of its own.
func (c *call) laterSpan(ctx context.Context, attrs ...attribute.KeyValue) (parent context.Context, opts []trace.SpanStartOption, ok bool) {
	opts = c.startOptions(attrs...)
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
