package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/attributes"
	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/lock"
)

const (
	// MaxLabels is how many labels WithLabels may add: three.
	MaxLabels = metrics.MaxLabels
	// MaxLabelValues is how many values each of them may take at a time before further ones
	// become "other": twenty.
	MaxLabelValues = metrics.MaxLabelValues
)

// ContextWithLabel gives the label name, which WithLabels has declared, this value in the metrics of
// every Acquire with the context, and of the lease that comes of it. Labels that were not declared are
// ignored; an empty value is as none.
func ContextWithLabel(ctx context.Context, name, value string) context.Context {
	return metrics.WithLabel(ctx, name, value)
}

// ContextWithAttributes adds attributes to the lock.* spans and the log records of every Acquire with
// the context, and of the lease that comes of it, for samplers to see; those that the context has
// already stay. Metrics have no part in them: see ContextWithLabel.
func ContextWithAttributes(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	return attributes.With(ctx, attrs...)
}

// addsToCalls adds what calls add to their callers' contexts. Were it seen by those who
// hold a lease, the spans of what they do would have an ended one as parent.
func addsToCalls(ctx context.Context) context.Context {
	return trace.ContextWithSpan(lock.WithTraceparent(ctx, "hidden"), trace.SpanFromContext(ctx))
}
