package lock

import (
	"strings"
	"testing"
	"time"
)

func TestHolderSurvivesTheRoundTrip(t *testing.T) {
	h := Holder{
		Instance: "checkout-1/4242", Since: time.UnixMilli(1763700000123),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	got, err := ParseHolder(h.record())
	if err != nil || got != h {
		t.Fatalf("ParseHolder(%q) = %+v, %v", h.record(), got, err)
	}
}

func TestHolderOfALaterVersionIsStillRead(t *testing.T) {
	h, err := ParseHolder("host/1|1000|tp|a field of the future|another")
	if err != nil || h.Instance != "host/1" || h.Traceparent != "tp" {
		t.Fatalf("got %+v, %v", h, err)
	}
}

func TestParseValueDropsTheToken(t *testing.T) {
	token := newToken()
	fence, holder, ok := ParseValue(token + ":42|" + Holder{Instance: "i", Since: time.UnixMilli(5)}.record())
	if !ok || fence != 42 || holder.Instance != "i" || strings.Contains(holder.Instance+holder.Traceparent, token) {
		t.Fatalf("got %d, %+v, %v", fence, holder, ok)
	}
	for _, foreign := range []string{"", "1", "0af7651916cd43dd8448eb211c80319c", token + ":x|i|1|", token + ":1", "ADDED:2026@host|1|2"} {
		if _, _, ok := ParseValue(foreign); ok {
			t.Errorf("ParseValue(%q) took a foreign value for ours", foreign)
		}
	}
}

func FuzzHolder(f *testing.F) {
	f.Add("host/1|1763700000123|00-abc-def-01")
	f.Add("||")
	f.Add("a|b")
	f.Add("i|-9223372036854775808|")
	f.Fuzz(func(t *testing.T, record string) {
		h, err := ParseHolder(record)
		if err != nil {
			return
		}
		again, err := ParseHolder(h.record())
		if err != nil || again != h {
			t.Fatalf("ParseHolder(%q) = %+v, rewritten %q, read again %+v, %v", record, h, h.record(), again, err)
		}
		_, _, _ = ParseValue(record)
		_, _, _ = ParseValue(strings.Repeat("a", tokenLength) + ":1|" + record)
	})
}
