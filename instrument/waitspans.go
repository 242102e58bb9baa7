package instrument

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// waitSpanKey finds the span of a wait of one decorator in a context.
type waitSpanKey struct{ owner *Locker }

// startWait starts the span of one wait between attempts, where its Acquire is recorded.
func (l *Locker) startWait(ctx context.Context, c *call, e lock.WaitStart) context.Context {
	if c.span == nil || !c.span.IsRecording() {
		return ctx
	}
	attrs := append(make([]attribute.KeyValue, 0, 6), attrResource.String(c.resource), attrWaitKind.String(string(e.Kind)))
	if e.Ahead > 0 {
		attrs = append(attrs, attrWaitAhead.Int(e.Ahead))
	}
	if e.Blocker != nil {
		attrs = append(attrs, blockerAttributes(e.Blocker.Holder)...)
	}
	_, span := l.tracing.tracer.Start(trace.ContextWithSpan(ctx, c.span), "lock.wait", c.startOptions(attrs...)...)
	return context.WithValue(ctx, waitSpanKey{l}, span)
}

// endWait leaves it to lock.acquire to be an error: that the time is up is no failure of the wait.
func (l *Locker) endWait(ctx context.Context, e lock.WaitEnd) {
	span, ok := ctx.Value(waitSpanKey{l}).(trace.Span)
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

// blockerAttributes name who is in the way; none if that is not known.
func blockerAttributes(h lock.Holder) []attribute.KeyValue {
	if h.Instance == "" {
		return nil
	}
	attrs := []attribute.KeyValue{
		attrBlocker.String(h.Instance), attrBlockerSince.String(h.Since.UTC().Format(time.RFC3339Nano)),
	}
	if h.CallSite != "" {
		attrs = append(attrs, attrBlockerSite.String(h.CallSite))
	}
	return attrs
}
