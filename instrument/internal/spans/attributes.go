package spans

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// The attributes of our own; there are no semantic conventions for locks.
const (
	attrResource     = attribute.Key("distributed_lock.resource")
	attrKind         = attribute.Key("distributed_lock.kind") // a lock.Kind; absent for a lock by itself
	attrMode         = attribute.Key("distributed_lock.mode") // blocking or try
	attrTTL          = attribute.Key("distributed_lock.ttl")  // this and other times in seconds
	attrNodes        = attribute.Key("distributed_lock.nodes")
	attrQuorum       = attribute.Key("distributed_lock.quorum")
	attrOutcome      = attribute.Key("distributed_lock.outcome")
	attrAttempts     = attribute.Key("distributed_lock.attempts")
	attrAttempt      = attribute.Key("distributed_lock.attempt")
	attrLeftOut      = attribute.Key("distributed_lock.spans_left_out") // absent if none were
	attrVotes        = attribute.Key("distributed_lock.votes")
	attrHandedOver   = attribute.Key("distributed_lock.handed_over") // inside the process; absent if not
	attrValidity     = attribute.Key("distributed_lock.validity")
	attrHold         = attribute.Key("distributed_lock.hold")
	attrGranted      = attribute.Key("distributed_lock.granted")
	attrBlocker      = attribute.Key("distributed_lock.blocker.instance")
	attrBlockerSince = attribute.Key("distributed_lock.blocker.since") // RFC 3339
	attrBlockerSite  = attribute.Key("distributed_lock.blocker.call_site")
	attrCallSite     = attribute.Key("distributed_lock.call_site")
	attrHolds        = attribute.Key("distributed_lock.holding") // resources
	attrDeadlock     = attribute.Key("distributed_lock.deadlock.cycle")
	attrRelation     = attribute.Key("distributed_lock.link")       // acquire or blocker
	attrWaitKind     = attribute.Key("distributed_lock.wait.kind")  // a locktrace.Wait
	attrWaitClass    = attribute.Key("distributed_lock.wait.class") // a locktrace.Wait
	attrWaitAhead    = attribute.Key("distributed_lock.wait.ahead") // waiters in front; absent if none is known
	attrNamed        = attribute.Key("distributed_lock.wait.named") // by a release, as the next; absent if not
)

// blockerAttributes name the holder; none if it is unknown.
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

// fail takes a word instead of the error text, which might quote a secret.
func fail(span trace.Span, reason string) {
	if reason == "" {
		reason = string(lock.ReasonError)
	}
	span.SetAttributes(semconv.ErrorTypeKey.String(reason))
	span.SetStatus(codes.Error, reason)
}
