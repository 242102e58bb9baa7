package instrument

import (
	"context"
	"net"
	"strconv"

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

// nodeCommand is what has a span name and attributes of its own.
type nodeCommand struct {
	system, node string
	op           lock.Operation
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

// startNode starts no span where none is recorded around it: the node spans of
// calls that are not sampled would be thrown away one by one.
func (l *Locker) startNode(ctx context.Context, e lock.NodeStart) context.Context {
	if c := l.callOf(ctx); c != nil && c.filtered() {
		return ctx
	}
	if !trace.SpanFromContext(ctx).IsRecording() && !l.outlives(ctx) {
		return ctx
	}
	cfg := l.tracing.nodeSpan(nodeCommand{e.Backend.System, e.Node, e.Op})
	ctx, span := l.tracing.tracer.Start(ctx, cfg.name, cfg.options...)
	if e.Attempt > 0 {
		span.SetAttributes(attrAttempt.Int(e.Attempt))
	}
	return context.WithValue(ctx, nodeSpanKey{l}, span)
}

// outlives reports that the span around has ended, and was sampled: a failed
// attempt or a lost lease is given back when Acquire has long returned.
func (l *Locker) outlives(ctx context.Context) bool {
	return trace.SpanContextFromContext(ctx).IsSampled()
}

func (l *Locker) endNode(ctx context.Context, e lock.NodeEnd) {
	span, _ := ctx.Value(nodeSpanKey{l}).(trace.Span)
	if span == nil {
		return
	}
	defer span.End()
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
	span.SetStatus(codes.Error, reason)
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
	attrs := []attribute.KeyValue{semconv.DBSystemNameKey.String(of.system)}
	port := 0
	if of.system == semconv.DBSystemNameRedis.Value.AsString() {
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
