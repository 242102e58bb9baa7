package spans

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// maxLinks bounds the blockers one span links to: a long wait has many.
const maxLinks = 16

// Call is what the spans of one Acquire and of its lease have in common. Its zero value is a call without spans. It
// must not be copied.
type Call struct {
	span     trace.Span // of the Acquire; nil if tracing is off, or the filter leaves the call out
	resource string
	own      []attribute.KeyValue // of the call; the kind is one of them

	ttl        atomic.Int64
	attempts   atomic.Int32
	votes      atomic.Int32 // of the last attempt
	handedOver atomic.Bool  // by another lease of this process
	leftOut    atomic.Int32 // spans that would have said what the one before says

	mu         sync.Mutex
	links      []string            // traceparents the span links to
	unreleased map[unreleased]bool // what has a span already
	answers    map[answerOf]string // of late attempts, the latest
	wait       waitReason          // the latest
}

// StartAcquire starts the span of an Acquire, and returns the context with it and with its traceparent, which travels
// in the lock. If the tracer panics, the call goes on without a span.
func (t *Tracer) StartAcquire(
	ctx context.Context, c *Call, resource string, opts []lock.AcquireOption,
) (next context.Context) {
	next = ctx
	if t == nil || !t.keeps(ctx, resource) {
		return next
	}
	defer t.cfg.Panics.Contain()
	o, own := lock.NewAcquireOptions(opts...), AttributesOf(ctx)
	if o.Kind != "" && o.Kind.Valid() {
		own = append(slices.Clip(own), attrKind.String(string(o.Kind)))
	}
	inner, span := t.tracer.Start(ctx, "lock.acquire", t.options(own,
		attrResource.String(resource), attrMode.String(mode(o)), attrTTL.Float64(o.TTL.Seconds()))...)
	if sc := span.SpanContext(); sc.IsValid() {
		inner = locktrace.WithTraceparent(inner, traceparentOf(sc))
	}
	c.span, c.resource, c.own = span, resource, own
	return inner
}

func mode(o lock.AcquireOptions) string {
	if o.NoWait {
		return "try"
	}
	return "blocking"
}

// Leaves reports whether the filter leaves out all spans of a call.
func (t *Tracer) Leaves(c *Call) bool { return t != nil && c.span == nil }

// Traced reports whether the span of the Acquire is real. A provider that makes none returns a stand-in, and would do
// so for later spans, too.
func (c *Call) Traced() bool { return c.span != nil && c.span.SpanContext().IsValid() }

// SpanContext is that of the Acquire's span, or without one that of the caller's span in ctx.
func (c *Call) SpanContext(ctx context.Context) trace.SpanContext {
	if c.span != nil {
		return c.span.SpanContext()
	}
	return trace.SpanContextFromContext(ctx)
}

// AcquireStart adds what only the wrapped Locker knows: its size and defaults.
func (c *Call) AcquireStart(e locktrace.AcquireStart) {
	c.ttl.Store(int64(e.Options.TTL))
	if c.span == nil || !c.span.IsRecording() {
		return
	}
	c.span.SetAttributes(attrNodes.Int(e.Nodes), attrQuorum.Int(e.Quorum),
		attrMode.String(mode(e.Options)), attrTTL.Float64(e.Options.TTL.Seconds()))
	if e.CallSite != "" {
		c.span.SetAttributes(attrCallSite.String(e.CallSite))
	}
	if len(e.Holds) > 0 {
		c.span.SetAttributes(attrHolds.StringSlice(Resources(e.Holds)))
	}
}

// AttemptEnd records a round of voting.
func (c *Call) AttemptEnd(e locktrace.AttemptEnd) {
	c.attempts.Add(1)
	c.votes.Store(int32(e.Granted))
}

// HandedOver records that another lease of this process handed the lock over.
func (c *Call) HandedOver() { c.handedOver.Store(true) }

// Deadlock adds the cycle that the call closed.
func (c *Call) Deadlock(e lock.DeadlockError) {
	if c.span != nil {
		c.span.SetAttributes(attrDeadlock.String(e.String()))
	}
}

// Acquired is the end of an Acquire.
type Acquired struct {
	Outcome  outcome.Acquisition
	Validity time.Duration
	Err      error
	Failure  bool // false also for a NoWait call that found the lock held
	Hooked   bool // hooks have told of the attempts
}

// EndAcquire ends the span, if there is one.
func (t *Tracer) EndAcquire(c *Call, e Acquired) {
	if c.span == nil {
		return
	}
	defer t.cfg.Panics.Contain()
	defer c.span.End()
	if !c.span.IsRecording() {
		return
	}
	if held, ok := errors.AsType[*lock.HeldError](e.Err); ok {
		c.linkBlocker(held)
	}
	c.span.SetAttributes(attrOutcome.String(e.Outcome.String()))
	if e.Hooked {
		c.span.SetAttributes(attrAttempts.Int(int(c.attempts.Load())), attrVotes.Int(int(c.votes.Load())))
	}
	if n := c.leftOut.Load(); n > 0 {
		c.span.SetAttributes(attrLeftOut.Int(int(n)))
	}
	if c.handedOver.Load() {
		c.span.SetAttributes(attrHandedOver.Bool(true))
	}
	if e.Outcome == outcome.Acquired {
		c.span.SetAttributes(attrValidity.Float64(e.Validity.Seconds()))
	}
	if e.Failure {
		fail(c.span, string(lock.ReasonOf(e.Err)))
	}
}

// Abandon ends the span of a call that does not return.
func (c *Call) Abandon() {
	if c.span != nil {
		c.span.End()
	}
}

// linkBlocker names the holder, and links to the trace in which it acquired the lock.
func (c *Call) linkBlocker(blocker *lock.HeldError) {
	holder := blocker.Holder
	if c.span == nil || !c.span.IsRecording() || holder.Instance == "" {
		return
	}
	c.span.SetAttributes(blockerAttributes(holder)...)
	sc := ParseTraceparent(holder.Traceparent)
	if !sc.IsSampled() {
		return // nobody has recorded it
	}
	c.mu.Lock()
	known := len(c.links) >= maxLinks || slices.Contains(c.links, holder.Traceparent)
	if !known {
		c.links = append(c.links, holder.Traceparent)
	}
	c.mu.Unlock()
	if !known {
		c.span.AddLink(trace.Link{SpanContext: sc, Attributes: []attribute.KeyValue{
			attrRelation.String("blocker"), attrBlocker.String(holder.Instance),
		}})
	}
}

// unreleased is a grant whose release a node did not confirm.
type unreleased struct {
	node    string
	attempt int
}

func (c *Call) firstUnreleased(e locktrace.NodeStart) bool {
	key := unreleased{e.Node, e.Attempt}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreleased[key] {
		return false
	}
	if c.unreleased == nil {
		c.unreleased = make(map[unreleased]bool)
	}
	c.unreleased[key] = true
	return true
}
