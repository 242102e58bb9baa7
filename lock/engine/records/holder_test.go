package records

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func TestHolderSurvivesTheRoundTrip(t *testing.T) {
	h := lock.Holder{
		Instance: "checkout-1/4242", Since: time.UnixMilli(1763700000123),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	for _, full := range []lock.Holder{h,
		{Instance: "a", Since: h.Since, CallSite: "orders/charge.go:42", Page: "http://10.0.0.7:9090/debug/locks"},
		{Instance: "a", Since: h.Since, Kind: lock.KindElection},
		{Instance: "a", Since: h.Since, Reason: "disk swap"},
		{Instance: "a", Since: h.Since, CallSite: "a.go:1", Kind: lock.KindSet, Reason: "disk swap, ticket 7"},
		{Instance: "a", Since: h.Since, CallSite: "a.go:1", Kind: lock.KindSemaphore, Slots: 5},
		{Instance: "a", Since: h.Since, Reason: "done"},
		{Instance: "a", Since: h.Since, Done: true},
		{Instance: "a", Since: h.Since, Kind: lock.KindElection, Reason: "disk swap", Done: true}} {
		record := string(AppendHolder(nil, full, "name"))
		if got, err := ParseHolder(record); err != nil || got != full {
			t.Fatalf("ParseHolder(%q) = %+v, %v", record, got, err)
		}
	}
}

func TestHolderOfALaterVersionIsStillRead(t *testing.T) {
	h, err := ParseHolder("host/1|1000|tp|name|a.go:1|http://page|a field of the future||another|more")
	if err != nil || h.Instance != "host/1" || h.Traceparent != "tp" || h.Page != "http://page" || h.Kind != "" {
		t.Fatalf("got %+v, %v", h, err)
	}
}

func FuzzHolder(f *testing.F) {
	f.Add("host/1|1763700000123|00-abc-def-01")
	f.Add("host/1|1763700000123||n|||semaphore:5")
	f.Add("host/1|1763700000123||n||||disk swap|more")
	f.Add("host/1|1763700000123||n|||||done|")
	f.Add("||")
	f.Add("a|b")
	f.Add("i|-9223372036854775808|")
	f.Fuzz(func(t *testing.T, record string) {
		h, err := ParseHolder(record)
		if err != nil {
			return
		}
		again, err := ParseHolder(string(AppendHolder(nil, h, "name")))
		if err != nil || again != h {
			t.Fatalf("ParseHolder(%q) = %+v, rewritten %q, read again %+v, %v", record, h,
				string(AppendHolder(nil, h, "name")), again, err)
		}
	})
}
