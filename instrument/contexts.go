package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// ContextWithLabel sets the value of a label declared with WithLabels, for the metrics of every Acquire with this context
// and of its lease. Undeclared labels are ignored. An empty value is the same as none.
func ContextWithLabel(ctx context.Context, name, value string) context.Context {
	return metrics.WithLabel(ctx, name, value)
}

// ContextWithAttributes adds attributes to the lock.* spans and log records of every Acquire with this context and of
// its lease. Samplers see them. Attributes already in the context stay. Metrics ignore them: see ContextWithLabel.
func ContextWithAttributes(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	return spans.WithAttributes(ctx, attrs...)
}

// addsToCalls hides from the holder of a lease what calls add to their callers' contexts. Otherwise an ended span
// would be the parent of the holder's spans.
func addsToCalls(ctx context.Context) context.Context {
	return trace.ContextWithSpan(locktrace.WithTraceparent(ctx, "hidden"), trace.SpanFromContext(ctx))
}
