package spans

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func TestTraceparent(t *testing.T) {
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
		TraceFlags: trace.FlagsSampled})
	if got := ParseTraceparent(traceparentOf(sc)); !got.IsValid() || got.TraceID() != sc.TraceID() || got.SpanID() != sc.SpanID() ||
		!got.IsSampled() {
		t.Errorf("%v came back as %v", sc, got)
	}
	for _, s := range []string{"", "x", "00-00-00-00", strings.Repeat("f", 55), "00-" + strings.Repeat("0", 32) + "-" +
		strings.Repeat("1", 16) + "-01"} {
		if sc := ParseTraceparent(s); sc.IsValid() {
			t.Errorf("%q is read as %v", s, sc)
		}
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x")
	f.Add("00-00000000000000000000000000000000-0000000000000000-00")
	f.Fuzz(func(t *testing.T, s string) {
		sc := ParseTraceparent(s)
		if sc.IsValid() && !ParseTraceparent(traceparentOf(sc)).Equal(sc) {
			t.Fatalf("%q is %v, read again %v", s, sc, ParseTraceparent(traceparentOf(sc)))
		}
	})
}
