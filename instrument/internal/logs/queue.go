package logs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument/internal/spans"
)

// capacity is how many records wait for a slow handler before some are dropped.
const capacity = 128

// queue passes records to a handler in order. Its goroutine lives while there are records. A handler that hangs must
// not keep a lease from being renewed.
type queue struct {
	handler slog.Handler
	panics  spans.Panics

	mu      sync.Mutex
	records []record
	running chan struct{} // closed when the goroutine has ended; nil without one
	dropped int           // since the last record that was kept
}

type record struct {
	ctx    context.Context
	record slog.Record
}

// add takes the trace from ctx and does not block. The first record of a kind always has room.
func (q *queue) add(ctx context.Context, p pass, level slog.Level, attrs ...slog.Attr) {
	r := slog.NewRecord(time.Now(), level, p.msg, 0)
	r.AddAttrs(attrs...)
	if p.leftOut > 0 {
		r.AddAttrs(slog.Int("left_out", p.leftOut))
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()),
			slog.String("trace_flags", sc.TraceFlags().String()))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.records) >= capacity && !p.first {
		q.dropped++
		return
	}
	if q.dropped > 0 {
		r.AddAttrs(slog.Int("dropped", q.dropped))
		q.dropped = 0
	}
	q.records = append(q.records, record{context.WithoutCancel(ctx), r})
	if q.running == nil {
		q.running = make(chan struct{})
		go q.run(q.running)
	}
}

// flush waits until no record is left, or ctx ends.
func (q *queue) flush(ctx context.Context) error {
	q.mu.Lock()
	running := q.running
	q.mu.Unlock()
	if running == nil {
		return nil
	}
	select {
	case <-running:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("instrument: flush: log records remain: %w", ctx.Err())
	}
}

func (q *queue) run(done chan<- struct{}) {
	for {
		q.mu.Lock()
		records := q.records
		q.records = nil
		if len(records) == 0 {
			q.running = nil
		}
		q.mu.Unlock()
		if len(records) == 0 {
			close(done)
			return
		}
		for _, r := range records {
			q.handle(r)
		}
	}
}

// handle ignores the handler's error, as slog does.
func (q *queue) handle(r record) {
	defer q.panics.Contain()
	if q.handler.Enabled(r.ctx, r.record.Level) {
		_ = q.handler.Handle(r.ctx, r.record)
	}
}
