// Package attributes carries the attributes that a caller adds to its spans and log records.
package attributes

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"github.com/lockscope/lockscope/lock"
)

// key finds the attributes of a call in a context.
type key struct{}

// With adds attributes to those already in the context.
func With(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	if len(attrs) == 0 {
		return ctx
	}
	have := Of(ctx)
	return context.WithValue(ctx, key{}, append(have[:len(have):len(have)], attrs...))
}

// Of returns the attributes of the context.
func Of(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(key{}).([]attribute.KeyValue)
	return attrs
}

// ForLog returns the attributes of the context for a log record.
func ForLog(ctx context.Context) (attrs []slog.Attr) {
	for _, a := range Of(ctx) {
		attrs = append(attrs, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	return attrs
}

// Resources returns the names of the held resources.
func Resources(held []lock.HeldLease) (names []string) {
	for _, h := range held {
		names = append(names, h.Resource)
	}
	return names
}
