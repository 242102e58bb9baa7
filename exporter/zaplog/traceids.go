package zaplog

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// The names OpenTelemetry gives these fields in logs of other formats.
const (
	traceIDKey    = "trace_id"
	spanIDKey     = "span_id"
	traceFlagsKey = "trace_flags"
)

// WithTraceIDs adds trace_id, span_id and trace_flags to the records for next, from the span in the record's context.
// They stay at the top level whatever groups the logger has, and are left out of records that already have a trace_id
// there. next must not be inside a group.
func WithTraceIDs(next slog.Handler) slog.Handler { return &traceIDs{root: next, full: next} }

// traceIDs remembers what followed the first group, because the ids must be added before it.
type traceIDs struct {
	root  slog.Handler // without groups
	full  slog.Handler // with everything
	later []func(slog.Handler) slog.Handler
	known bool // root has a trace_id
}

// Enabled implements slog.Handler.
func (h *traceIDs) Enabled(ctx context.Context, level slog.Level) bool {
	return h.full.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *traceIDs) Handle(ctx context.Context, r slog.Record) error {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() || h.known {
		return h.full.Handle(ctx, r)
	}
	ids := []slog.Attr{
		slog.String(traceIDKey, sc.TraceID().String()),
		slog.String(spanIDKey, sc.SpanID().String()),
		slog.String(traceFlagsKey, sc.TraceFlags().String()),
	}
	if len(h.later) == 0 {
		if hasTraceID(r) {
			return h.full.Handle(ctx, r)
		}
		r = r.Clone() // its attributes may be shared with other handlers
		r.AddAttrs(ids...)
		return h.full.Handle(ctx, r)
	}
	next := h.root.WithAttrs(ids)
	for _, apply := range h.later {
		next = apply(next)
	}
	return next.Handle(ctx, without(r, ids))
}

// without removes attributes that the handler already has: instrument adds the ids to its records for handlers that
// know nothing of traces.
func without(r slog.Record, ids []slog.Attr) slog.Record {
	if !hasTraceID(r) {
		return r
	}
	rest := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if !slices.ContainsFunc(ids, a.Equal) {
			rest.AddAttrs(a)
		}
		return true
	})
	return rest
}

// WithAttrs implements slog.Handler.
func (h *traceIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.later) == 0 {
		next := h.root.WithAttrs(attrs)
		return &traceIDs{root: next, full: next, known: h.known || slices.ContainsFunc(attrs, isTraceID)}
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (h *traceIDs) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h *traceIDs) then(apply func(slog.Handler) slog.Handler) slog.Handler {
	return &traceIDs{root: h.root, full: apply(h.full), later: append(slices.Clip(h.later), apply), known: h.known}
}

func isTraceID(a slog.Attr) bool { return a.Key == traceIDKey }

func hasTraceID(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = isTraceID(a)
		return !found
	})
	return found
}
