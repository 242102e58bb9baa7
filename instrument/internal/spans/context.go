package spans

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/lockscope/lockscope/lock"
)

// attributesKey finds the attributes of a call in a context.
type attributesKey struct{}

// WithAttributes adds attributes of spans and log records to those already in the context.
func WithAttributes(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	if len(attrs) == 0 {
		return ctx
	}
	have := AttributesOf(ctx)
	return context.WithValue(ctx, attributesKey{}, append(have[:len(have):len(have)], attrs...))
}

// AttributesOf returns the attributes of the context.
func AttributesOf(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	return attrs
}

// Resources returns the names of the held resources.
func Resources(held []lock.HeldLease) (names []string) {
	for _, h := range held {
		names = append(names, h.Resource)
	}
	return names
}
