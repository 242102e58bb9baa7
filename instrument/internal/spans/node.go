package spans

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// nodeKey finds the node span of one decorator in a context. The current span may be somebody else's.
type nodeKey struct{ owner *Tracer }

// startsNodeSpan reports whether a command gets a span whatever its result.
func (t *Tracer) startsNodeSpan(op lock.Operation) bool {
	return t.cfg.Nodes == NodesAll || op == lock.OpAcquire || op == lock.OpRaise
}

// recordsNodes reports whether spans of nodes around ctx would be kept. Those of unsampled calls would be dropped one
// by one. The surrounding span may have ended after it was sampled: a failed attempt or a lost lease is released long
// after Acquire has returned.
func (t *Tracer) recordsNodes(ctx context.Context, c *Call) bool {
	if c != nil && t.Leaves(c) {
		return false
	}
	span := trace.SpanFromContext(ctx)
	return span.IsRecording() || span.SpanContext().IsSampled()
}

// StartNode starts the span of a command that gets one whatever its result. c is nil for a command of no call.
func (t *Tracer) StartNode(ctx context.Context, c *Call, e locktrace.NodeStart) context.Context {
	if !t.startsNodeSpan(e.Op) || !t.recordsNodes(ctx, c) || c.isLate(e.Attempt) {
		return ctx
	}
	ctx, span := t.startNodeSpan(ctx, e)
	return context.WithValue(ctx, nodeKey{t}, span)
}

func (t *Tracer) startNodeSpan(
	ctx context.Context, e locktrace.NodeStart, opts ...trace.SpanStartOption,
) (context.Context, trace.Span) {
	cfg := t.node(nodeCommand{e.Backend, e.Node, e.Op})
	ctx, span := t.tracer.Start(ctx, cfg.name, append(opts, cfg.options...)...)
	if e.Attempt > 0 {
		span.SetAttributes(attrAttempt.Int(e.Attempt))
	}
	return ctx, span
}

// EndNode ends the span of a command, or makes one for a command that failed or was slow.
func (t *Tracer) EndNode(ctx context.Context, c *Call, e locktrace.NodeEnd) {
	news := c.answered(e)
	if span, ok := ctx.Value(nodeKey{t}).(trace.Span); ok {
		describeNode(span, e)
		span.End()
		return
	}
	late, starts := c.isLate(e.Attempt), t.startsNodeSpan(e.Op)
	if starts && !late || !t.recordsNodes(ctx, c) || !starts && !t.worthASpan(c, e) {
		return
	}
	if late && !news {
		c.leftOut.Add(1)
		return
	}
	now := time.Now()
	_, span := t.startNodeSpan(ctx, e.NodeStart, trace.WithTimestamp(now.Add(-e.Took)))
	describeNode(span, e)
	span.End(trace.WithTimestamp(now))
}

// worthASpan reports whether a command failed or was slow. A release without an answer is retried as long as the key
// may exist: one span is enough.
func (t *Tracer) worthASpan(c *Call, e locktrace.NodeEnd) bool {
	if e.Err == nil {
		return e.Took >= t.cfg.SlowNode
	}
	return e.Op != lock.OpRelease || c == nil || c.firstUnreleased(e.NodeStart)
}

func describeNode(span trace.Span, e locktrace.NodeEnd) {
	if !span.IsRecording() {
		return
	}
	if e.Err == nil {
		span.SetAttributes(attrGranted.Bool(e.Verdict == lock.VerdictGranted))
		return
	}
	reason := outcome.OfNode(e.Err).String()
	if code := outcome.StatusCode(e.Err); code != "" {
		reason = code
		span.SetAttributes(semconv.DBResponseStatusCode(code))
	}
	span.SetAttributes(semconv.ErrorTypeKey.String(reason))
	if !cleansUp(e.NodeStart) {
		span.SetStatus(codes.Error, reason)
	}
}

// cleansUp reports whether a command undoes what a decided acquire left. No call fails with it, and the key expires
// with its TTL at the latest.
func cleansUp(e locktrace.NodeStart) bool {
	return e.Op == lock.OpLeave || e.Op == lock.OpRelease && e.Attempt > 0
}
