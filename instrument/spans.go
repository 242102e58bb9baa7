package instrument

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/lock"
)

const (
	module    = "github.com/lockscope/lockscope"
	scopeName = module + "/instrument"
	// maxLinks bounds the blockers one span links to: a long wait has many.
	maxLinks = 16
)

// The attributes of our own; there are no semantic conventions for locks.
const (
	attrResource     = attribute.Key("distributed_lock.resource")
	attrMode         = attribute.Key("distributed_lock.mode") // blocking or try
	attrTTL          = attribute.Key("distributed_lock.ttl")  // this and other times in seconds
	attrNodes        = attribute.Key("distributed_lock.nodes")
	attrQuorum       = attribute.Key("distributed_lock.quorum")
	attrOutcome      = attribute.Key("distributed_lock.outcome")
	attrAttempts     = attribute.Key("distributed_lock.attempts")
	attrAttempt      = attribute.Key("distributed_lock.attempt")
	attrVotes        = attribute.Key("distributed_lock.votes")
	attrHandedOver   = attribute.Key("distributed_lock.handed_over") // inside the process; absent if not
	attrValidity     = attribute.Key("distributed_lock.validity")
	attrHold         = attribute.Key("distributed_lock.hold")
	attrGranted      = attribute.Key("distributed_lock.granted")
	attrBlocker      = attribute.Key("distributed_lock.blocker.instance")
	attrBlockerSince = attribute.Key("distributed_lock.blocker.since") // RFC 3339
	attrBlockerSite  = attribute.Key("distributed_lock.blocker.call_site")
	attrCallSite     = attribute.Key("distributed_lock.call_site")
	attrHolding      = attribute.Key("distributed_lock.holding") // resources
	attrDeadlock     = attribute.Key("distributed_lock.deadlock.cycle")
	attrRelation     = attribute.Key("distributed_lock.link")       // acquire or blocker
	attrWaitKind     = attribute.Key("distributed_lock.wait.kind")  // a lock.WaitKind
	attrWaitAhead    = attribute.Key("distributed_lock.wait.ahead") // waiters in front; absent if none is known
	attrNamed        = attribute.Key("distributed_lock.wait.named") // by a release, as the next; absent if not
)

// tracing makes spans.
type tracing struct {
	tracer    trace.Tracer
	nodeSpans NodeSpans
	slowNode  time.Duration
	filter    func(ctx context.Context, resource string) bool // nil: all
	static    []trace.SpanStartOption                         // of lock.* spans

	mu    sync.RWMutex
	nodes map[nodeCommand]*nodeSpanConfig
}

// newTracing is nil if tracing is off.
func (l *Locker) newTracing(cfg config) (t *tracing) {
	defer l.contain()
	p := cfg.tracerProvider
	if p == nil {
		p = otel.GetTracerProvider()
	}
	switch p.(type) {
	case noop.TracerProvider, *noop.TracerProvider:
		return nil
	}
	tracer := p.Tracer(scopeName, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(semconv.SchemaURL))
	if tracer == nil {
		return nil
	}
	t = &tracing{
		tracer: tracer, nodeSpans: cfg.nodeSpans, slowNode: cfg.slowNode,
		filter: cfg.spanFilter, nodes: make(map[nodeCommand]*nodeSpanConfig),
	}
	if len(cfg.spanAttributes) > 0 {
		t.static = []trace.SpanStartOption{trace.WithAttributes(cfg.spanAttributes...)}
	}
	return t
}

// startOptions are of a lock.* span, with what samplers are to see.
func (c *call) startOptions(attrs ...attribute.KeyValue) []trace.SpanStartOption {
	opts := append(slices.Clip(c.owner.tracing.static), trace.WithAttributes(attrs...))
	if own := attributesOf(c); len(own) > 0 {
		opts = append(opts, trace.WithAttributes(own...))
	}
	return opts
}

// keepsSpans asks the filter.
func (l *Locker) keepsSpans(ctx context.Context, resource string) (keep bool) {
	if l.tracing.filter == nil {
		return true
	}
	keep = true
	defer l.contain()
	return l.tracing.filter(ctx, resource)
}

// version is of this module, as built into the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}

// startAcquire puts the span and its traceparent, which travels in the lock, into
// the call. If the tracer panics the call goes on without.
func (l *Locker) startAcquire(c *call, opts []lock.AcquireOption) {
	defer l.contain()
	o := lock.NewAcquireOptions(opts...)
	ctx, span := l.tracing.tracer.Start(c.Context, "lock.acquire", c.startOptions(
		attrResource.String(c.resource), attrMode.String(mode(o)), attrTTL.Float64(o.TTL.Seconds()))...)
	if sc := span.SpanContext(); sc.IsValid() {
		ctx = lock.WithTraceparent(ctx, traceparent(sc))
	}
	c.Context, c.span = ctx, span
}

func mode(o lock.AcquireOptions) string {
	if o.NoWait {
		return "try"
	}
	return "blocking"
}

// describeAcquire adds what only the wrapped Locker knew: its size and defaults.
func (l *Locker) describeAcquire(c *call, e lock.AcquireStart) {
	if c.span.IsRecording() {
		c.span.SetAttributes(attrNodes.Int(e.Nodes), attrQuorum.Int(e.Quorum),
			attrMode.String(mode(e.Options)), attrTTL.Float64(e.Options.TTL.Seconds()))
		if e.CallSite != "" {
			c.span.SetAttributes(attrCallSite.String(e.CallSite))
		}
		if len(e.Holding) > 0 {
			c.span.SetAttributes(attrHolding.StringSlice(resourcesOf(e.Holding)))
		}
	}
}

// endAcquire ends the span; failure is false for a NoWait call that found the lock held.
func (l *Locker) endAcquire(c *call, out outcome, validity time.Duration, err error, failure bool) {
	defer l.contain()
	defer c.span.End()
	if !c.span.IsRecording() {
		return
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		l.linkBlocker(c, held)
	}
	c.span.SetAttributes(attrOutcome.String(out.String()))
	if c.Hooked() {
		c.span.SetAttributes(attrAttempts.Int(int(c.attempts.Load())), attrVotes.Int(int(c.votes.Load())))
	}
	if c.handedOver.Load() {
		c.span.SetAttributes(attrHandedOver.Bool(true))
	}
	if out == acquired {
		c.span.SetAttributes(attrValidity.Float64(validity.Seconds()))
	}
	if failure {
		fail(c.span, string(lock.ReasonOf(err)))
	}
}

// fail takes a word and no error text, which might quote what nobody may see.
func fail(span trace.Span, reason string) {
	if reason == "" {
		reason = string(lock.ReasonError)
	}
	span.SetAttributes(semconv.ErrorTypeKey.String(reason))
	span.SetStatus(codes.Error, reason)
}

// linkBlocker names who is in the way, and links to the trace in which they acquired.
func (l *Locker) linkBlocker(c *call, blocker *lock.HeldError) {
	holder := blocker.Holder
	if c.span == nil || !c.span.IsRecording() || holder.Instance == "" {
		return
	}
	c.span.SetAttributes(blockerAttributes(holder)...)
	sc := parseTraceparent(holder.Traceparent)
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
