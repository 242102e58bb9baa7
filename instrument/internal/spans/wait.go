package spans

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// waitKey finds the span of a wait of one decorator in a context.
type waitKey struct{ owner *Tracer }

// StartWait starts the span of one wait between attempts, if its Acquire is recorded, and links the Acquire to the
// holder.
func (t *Tracer) StartWait(ctx context.Context, c *Call, e locktrace.WaitStart) context.Context {
	if c.span == nil || !c.span.IsRecording() {
		return ctx
	}
	if news := c.waits(e); !news && c.isLate(int(c.attempts.Load())+1) {
		c.leftOut.Add(1)
		return ctx
	}
	attrs := append(make([]attribute.KeyValue, 0, 7), attrResource.String(c.resource),
		attrWaitKind.String(string(e.Kind)), attrWaitClass.String(string(e.Class())))
	if e.Ahead > 0 {
		attrs = append(attrs, attrWaitAhead.Int(e.Ahead))
	}
	if e.Blocker != nil {
		c.linkBlocker(e.Blocker)
		attrs = append(attrs, blockerAttributes(e.Blocker.Holder)...)
	}
	_, span := t.tracer.Start(trace.ContextWithSpan(ctx, c.span), "lock.wait", t.options(c.own, attrs...)...)
	return context.WithValue(ctx, waitKey{t}, span)
}

// EndWait leaves errors to lock.acquire: the end of its time is not a failure of the wait.
func (t *Tracer) EndWait(ctx context.Context, e locktrace.WaitEnd) {
	span, ok := ctx.Value(waitKey{t}).(trace.Span)
	if !ok {
		return
	}
	defer span.End()
	if e.Named {
		span.SetAttributes(attrNamed.Bool(true))
	}
	if e.HandedOver {
		span.SetAttributes(attrHandedOver.Bool(true))
	}
	if e.Err != nil {
		span.SetAttributes(semconv.ErrorTypeKey.String(string(lock.ReasonOf(e.Err))))
	}
}
