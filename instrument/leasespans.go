package instrument

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// releaseKey finds the span of a release of one decorator in a context.
type releaseKey struct{ owner *Locker }

// startRelease returns a nil span if the tracer panics.
func (l *Locker) startRelease(ctx context.Context, m *lease) (next context.Context, span trace.Span) {
	next = ctx
	defer l.contain()
	inner, span := l.tracing.tracer.Start(ctx, "lock.release", m.call.link()...)
	if span.IsRecording() {
		span.SetAttributes(attrResource.String(m.call.resource))
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

// startRenewal is of a round of automatic renewal: work of its own, long after
// the trace that acquired has ended.
func (l *Locker) startRenewal(ctx context.Context, c *call) context.Context {
	inner, span := l.tracing.tracer.Start(ctx, "lock.extend", append(c.link(), trace.WithNewRoot())...)
	c.describeExtend(span)
	r := newRenewal(inner, c)
	r.span = span
	return r
}

// startExtendByHand is of an Extend, which belongs to its caller's trace.
func (l *Locker) startExtendByHand(r *renewal) {
	defer l.contain()
	r.Context, r.span = l.tracing.tracer.Start(r.Context, "lock.extend", r.call.link()...)
	r.call.describeExtend(r.span)
}

func (c *call) describeExtend(span trace.Span) {
	if span.IsRecording() {
		span.SetAttributes(attrResource.String(c.resource))
		if ttl := c.ttl.Load(); ttl > 0 {
			span.SetAttributes(attrTTL.Float64(time.Duration(ttl).Seconds()))
		}
	}
}

func (l *Locker) endExtend(r *renewal, out extension, left time.Duration, err error) {
	defer l.contain()
	defer r.span.End()
	if !r.span.IsRecording() {
		return
	}
	r.span.SetAttributes(attrOutcome.String(out.String()), attrValidity.Float64(max(0, left.Seconds())))
	if err != nil {
		fail(r.span, string(lock.ReasonOf(err)))
	}
}

// link leads from later spans to the one that acquired.
func (c *call) link() []trace.SpanStartOption {
	return append(slices.Clip(c.owner.tracing.static), trace.WithLinks(trace.Link{
		SpanContext: c.span.SpanContext(), Attributes: []attribute.KeyValue{attrRelation.String("acquire")},
	}))
}
