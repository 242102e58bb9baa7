package instrument

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// logCapacity is how many records wait for a slow handler before some are dropped.
const logCapacity = 128

// logQueue hands records to a handler in order, in a goroutine that lives while
// there are any: a handler that hangs must not keep a lease from being renewed.
type logQueue struct {
	handler slog.Handler
	panics  prometheus.Counter
	limit   logLimit

	mu      sync.Mutex
	records []logRecord
	running chan struct{} // closed when the goroutine has ended; nil without one
	dropped int           // since the last record that was kept
}

type logRecord struct {
	ctx    context.Context
	record slog.Record
}

func newLogQueue(l *slog.Logger, every time.Duration, panics prometheus.Counter) *logQueue {
	if l == nil {
		return nil
	}
	return &logQueue{handler: l.Handler(), panics: panics, limit: logLimit{every: every, kinds: make(map[logKind]*logTold)}}
}

// admit reports whether anybody is to be told: a nil queue tells nobody.
func (q *logQueue) admit(msg, reason, about string) (p logPass, ok bool) {
	if q == nil {
		return p, false
	}
	return q.limit.admit(logKind{msg, reason, about}, time.Now())
}

// add takes the trace from ctx. It does not block. The first record of a kind has room, however
// slow the handler is.
func (q *logQueue) add(ctx context.Context, p logPass, level slog.Level, attrs ...slog.Attr) {
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
	if len(q.records) >= logCapacity && !p.first {
		q.dropped++
		return
	}
	if q.dropped > 0 {
		r.AddAttrs(slog.Int("dropped", q.dropped))
		q.dropped = 0
	}
	q.records = append(q.records, logRecord{context.WithoutCancel(ctx), r})
	if q.running == nil {
		q.running = make(chan struct{})
		go q.run(q.running)
	}
}

// flush waits until no record is left, or ctx ends.
func (q *logQueue) flush(ctx context.Context) error {
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
		return fmt.Errorf("instrument: log records are left: %w", ctx.Err())
	}
}

func (q *logQueue) run(done chan<- struct{}) {
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

// handle leaves an error to the handler, as slog does.
func (q *logQueue) handle(r logRecord) {
	defer func() {
		if recover() != nil {
			q.panics.Inc()
		}
	}()
	if q.handler.Enabled(r.ctx, r.record.Level) {
		_ = q.handler.Handle(r.ctx, r.record)
	}
}
