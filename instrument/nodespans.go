package instrument

import (
	"context"
	"net"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

const (
	redisPort = 6379
	// maxNodeSpanConfigs is far above nodes times operations of any Redlock.
	maxNodeSpanConfigs = 1024
)

// NodeSpans says which commands on nodes get a span of their own.
type NodeSpans int

// The choices of WithNodeSpans.
const (
	// NodeSpansVotes are those of acquires, which decide who has the lock, and of the
	// others those that failed or were slow.
	NodeSpansVotes NodeSpans = iota
	NodeSpansAll
	// NodeSpansNone is for Redis clients that trace their commands themselves.
	NodeSpansNone
)

// nodeCommand is what has a span name and attributes of its own.
type nodeCommand struct {
	backend lock.Backend
	node    string
	op      lock.Operation
}

// nodeSpanConfig is made once per command: building attributes costs more than
// starting a span.
type nodeSpanConfig struct {
	name    string
	options []trace.SpanStartOption
}

// nodeSpanKey finds the node span of one decorator in a context; the span on top
// may be somebody else's.
type nodeSpanKey struct{ owner *Locker }

// startsNodeSpan reports that a command gets a span whatever comes of it.
func (t *tracing) startsNodeSpan(op lock.Operation) bool {
	return t.nodeSpans == NodeSpansAll || op == lock.OpAcquire || op == lock.OpRaise
}

// recordsNodes reports that spans of nodes around ctx would be kept. Those of calls that are not
// sampled would be thrown away one by one. The span around may have ended, and have been sampled: a
// failed attempt or a lost lease is given back when Acquire has long returned.
func (l *Locker) recordsNodes(ctx context.Context) bool {
	if c := l.callOf(ctx); c != nil && c.filtered() {
		return false
	}
	span := trace.SpanFromContext(ctx)
	return span.IsRecording() || span.SpanContext().IsSampled()
}

func (l *Locker) startNode(ctx context.Context, e lock.NodeStart) context.Context {
	if !l.tracing.startsNodeSpan(e.Op) || !l.recordsNodes(ctx) {
		return ctx
	}
	ctx, span := l.startNodeSpan(ctx, e)
	return context.WithValue(ctx, nodeSpanKey{l}, span)
}

func (l *Locker) startNodeSpan(ctx context.Context, e lock.NodeStart, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	cfg := l.tracing.nodeSpan(nodeCommand{e.Backend, e.Node, e.Op})
	ctx, span := l.tracing.tracer.Start(ctx, cfg.name, append(opts, cfg.options...)...)
	if e.Attempt > 0 {
		span.SetAttributes(attrAttempt.Int(e.Attempt))
	}
	return ctx, span
}

func (l *Locker) endNode(ctx context.Context, e lock.NodeEnd) {
	if span, ok := ctx.Value(nodeSpanKey{l}).(trace.Span); ok {
		describeNode(span, e)
		span.End()
		return
	}
	if l.tracing.startsNodeSpan(e.Op) || !l.recordsNodes(ctx) || !l.worthASpan(ctx, e) {
		return
	}
	now := time.Now()
	_, span := l.startNodeSpan(ctx, e.NodeStart, trace.WithTimestamp(now.Add(-e.Took)))
	describeNode(span, e)
	span.End(trace.WithTimestamp(now))
}

// worthASpan reports that a command failed or was slow. A release that a node does not
// answer is sent again and again, for as long as the key may be there: one span tells.
func (l *Locker) worthASpan(ctx context.Context, e lock.NodeEnd) bool {
	if e.Err == nil {
		return e.Took >= l.tracing.slowNode
	}
	c := l.callOf(ctx)
	return e.Op != lock.OpRelease || c == nil || c.firstUnreleased(e.NodeStart)
}

// unreleased is a grant that a node was asked to give back, in vain.
type unreleased struct {
	node    string
	attempt int
}

func (c *call) firstUnreleased(e lock.NodeStart) bool {
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

func describeNode(span trace.Span, e lock.NodeEnd) {
	if !span.IsRecording() {
		return
	}
	if e.Err == nil {
		span.SetAttributes(attrGranted.Bool(e.Verdict == lock.VerdictGranted))
		return
	}
	reason := failureOf(e.Err).String()
	if code := statusCode(e.Err); code != "" {
		reason = code
		span.SetAttributes(semconv.DBResponseStatusCode(code))
	}
	span.SetAttributes(semconv.ErrorTypeKey.String(reason))
	if !cleansUp(e.NodeStart) {
		span.SetStatus(codes.Error, reason)
	}
}

// cleansUp reports that a command gives back what a decided acquire left: nobody's call fails
// with it, and the key ends with its TTL at the latest.
func cleansUp(e lock.NodeStart) bool {
	return e.Op == lock.OpLeave || e.Op == lock.OpRelease && e.Attempt > 0
}

func (t *tracing) nodeSpan(of nodeCommand) *nodeSpanConfig {
	t.mu.RLock()
	cfg := t.nodes[of]
	t.mu.RUnlock()
	if cfg != nil {
		return cfg
	}
	cfg = newNodeSpanConfig(of)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.nodes) < maxNodeSpanConfigs {
		t.nodes[of] = cfg
	}
	return cfg
}

// newNodeSpanConfig follows the semantic conventions for databases. The text of a
// statement would hold the token.
func newNodeSpanConfig(of nodeCommand) *nodeSpanConfig {
	name := "lock." + string(of.op)
	attrs := []attribute.KeyValue{semconv.DBSystemNameKey.String(of.backend.System)}
	if of.backend.Namespace != "" {
		attrs = append(attrs, semconv.DBNamespace(of.backend.Namespace))
	}
	port := 0
	if of.backend.System == semconv.DBSystemNameRedis.Value.AsString() {
		// Every operation is a script, called by its hash.
		attrs = append(attrs, semconv.DBOperationName("EVALSHA"), semconv.DBStoredProcedureName(name))
		name, port = "EVALSHA "+name, redisPort
	} else {
		attrs = append(attrs, semconv.DBOperationName(name))
	}
	return &nodeSpanConfig{
		name: name,
		options: []trace.SpanStartOption{
			trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(append(attrs, serverAttributes(of.node, port)...)...),
		},
	}
}

// serverAttributes are address and port of a node, the port unless it is the usual one.
func serverAttributes(node string, usual int) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		host = node // an alias, or a socket
	}
	attrs := []attribute.KeyValue{semconv.ServerAddress(host)}
	if n, err := strconv.Atoi(port); err == nil && n != usual {
		attrs = append(attrs, semconv.ServerPort(n))
	}
	return attrs
}
