package lock

import (
	"testing"
	"time"
)

func TestHolderSurvivesTheRoundTrip(t *testing.T) {
	h := Holder{
		Instance: "checkout-1/4242", Since: time.UnixMilli(1763700000123),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	got, err := ParseHolder(string(h.append(nil)))
	if err != nil || got != h {
		t.Fatalf("ParseHolder(%q) = %+v, %v", string(h.append(nil)), got, err)
	}
}

func TestHolderOfALaterVersionIsStillRead(t *testing.T) {
	h, err := ParseHolder("host/1|1000|tp|a field of the future|another")
	if err != nil || h.Instance != "host/1" || h.Traceparent != "tp" {
		t.Fatalf("got %+v, %v", h, err)
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
		again, err := ParseHolder(string(h.append(nil)))
		if err != nil || again != h {
			t.Fatalf("ParseHolder(%q) = %+v, rewritten %q, read again %+v, %v", record, h, string(h.append(nil)), again, err)
		}
	})
}
