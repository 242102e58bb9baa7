package instrument

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
)

// attributesKey finds the attributes of a call in a context.
type attributesKey struct{}

// ContextWithAttributes adds attributes to the lock.* spans and the log records of every Acquire with
// the context, and of the lease that comes of it, for samplers to see; those that the context has
// already stay. Metrics have no part in them: see ContextWithLabel.
func ContextWithAttributes(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	if len(attrs) == 0 {
		return ctx
	}
	have := attributesOf(ctx)
	return context.WithValue(ctx, attributesKey{}, append(have[:len(have):len(have)], attrs...))
}

func attributesOf(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	return attrs
}

// logAttributes are those of the call as a log record has them.
func (c *call) logAttributes() (attrs []slog.Attr) {
	for _, a := range attributesOf(c) {
		attrs = append(attrs, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	return attrs
}
