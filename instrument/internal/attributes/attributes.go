// Package attributes has what a call says of itself, in spans and log records alike.
package attributes

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"github.com/lockscope/lockscope/lock"
)

// key finds the attributes of a call in a context.
type key struct{}

// With adds attributes to those that the context has already.
func With(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	if len(attrs) == 0 {
		return ctx
	}
	have := Of(ctx)
	return context.WithValue(ctx, key{}, append(have[:len(have):len(have)], attrs...))
}

// Of is what With has added.
func Of(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(key{}).([]attribute.KeyValue)
	return attrs
}

// ForLog is what With has added, as a log record has it.
func ForLog(ctx context.Context) (attrs []slog.Attr) {
	for _, a := range Of(ctx) {
		attrs = append(attrs, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	return attrs
}

// Resources are the names of what is held.
func Resources(held []lock.Held) (names []string) {
	for _, h := range held {
		names = append(names, h.Resource)
	}
	return names
}
