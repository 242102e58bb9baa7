package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// reportEvery is the shortest time between two records about a failing collector.
const reportEvery = time.Minute

// reporter logs failed exports, which the SDK would pass to a handler shared by the whole process. It also lets a
// shutdown interrupt an export, for which the SDK would wait in the background.
type reporter struct {
	next   sdktrace.SpanExporter
	logger *slog.Logger

	stopped context.Context // ends when a shutdown gives up
	giveUp  context.CancelFunc

	mu       sync.Mutex
	lost     int // spans lost so far
	unsaid   int // spans lost since the last report
	reported time.Time
	last     error
	closing  bool
	late     int // spans lost since the shutdown began
}

var _ sdktrace.SpanExporter = (*reporter)(nil)

func newReporter(next sdktrace.SpanExporter, logger *slog.Logger) *reporter {
	r := &reporter{next: next, logger: logger}
	r.stopped, r.giveUp = context.WithCancel(context.Background())
	return r
}

// ExportSpans implements sdktrace.SpanExporter. The error ends here.
func (r *reporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stopped, cancel)()
	if err := r.next.ExportSpans(ctx, spans); err != nil {
		r.report(ctx, len(spans), err)
	}
	return nil
}

func (r *reporter) report(ctx context.Context, spans int, err error) {
	r.mu.Lock()
	r.lost += spans
	r.unsaid += spans
	r.last = err
	if r.closing {
		r.late += spans
	}
	now := time.Now()
	if r.closing || (!r.reported.IsZero() && now.Sub(r.reported) < reportEvery) {
		r.mu.Unlock()
		return
	}
	unsaid, lost := r.unsaid, r.lost
	r.unsaid, r.reported = 0, now
	r.mu.Unlock()
	r.logger.WarnContext(context.WithoutCancel(ctx), "spans could not be delivered",
		"spans", unsaid, "spans_total", lost, "error", err.Error())
}

// Shutdown implements sdktrace.SpanExporter.
func (r *reporter) Shutdown(ctx context.Context) error { return r.next.Shutdown(ctx) }

// stop delivers what is queued and gives up when ctx ends. The provider's own shutdown leaks its goroutines when its
// context ends, so it gets a context that does not end, and exports that fail at once instead.
func (r *reporter) stop(ctx context.Context, provider *sdktrace.TracerProvider) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultShutdownTimeout)
		defer cancel()
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	defer r.giveUp()
	defer context.AfterFunc(ctx, r.giveUp)()
	err := provider.Shutdown(context.WithoutCancel(ctx))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d lost during shutdown: %w", ErrSpansLost, r.late,
			errors.Join(context.Cause(ctx), r.last)))
	}
	return err
}
