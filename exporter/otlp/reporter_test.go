package otlp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// downExporter delivers nothing.
type downExporter struct{ sdktrace.SpanExporter }

func (downExporter) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("connection refused")
}

// TestEachLostSpanIsReportedOnce, in at most one record a minute, beside the sum of all.
func TestEachLostSpanIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := newReporter(downExporter{}, slog.New(slog.NewTextHandler(&out, nil)))
		defer r.giveUp()
		for range 3 {
			if err := r.ExportSpans(t.Context(), make([]sdktrace.ReadOnlySpan, 2)); err != nil {
				t.Errorf("the SDK was told: %v", err)
			}
			time.Sleep(reportEvery / 2)
		}
		records := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(records) != 2 || !strings.Contains(records[0], "spans=2 spans_total=2 ") ||
			!strings.Contains(records[1], "spans=4 spans_total=6 ") {
			t.Errorf("three exports of two spans in a minute:\n%s", out.String())
		}
	})
}
