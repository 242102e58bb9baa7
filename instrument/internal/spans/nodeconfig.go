package spans

import (
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	redisPort = 6379
	// maxNodeSpanConfigs is far above nodes times operations of any Redlock.
	maxNodeSpanConfigs = 1024
)

// nodeCommand identifies a span name and its attributes.
type nodeCommand struct {
	backend locktrace.Backend
	node    string
	op      lock.Operation
}

// nodeSpanConfig is made once per command, because building attributes costs more than starting a span.
type nodeSpanConfig struct {
	name    string
	options []trace.SpanStartOption
}

// newNodeSpanConfig follows the semantic conventions for databases. It omits the statement, which contains the token.
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

// serverAttributes are the address and port of a node, without the usual port.
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
