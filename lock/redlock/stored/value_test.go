package stored

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestParseValueDropsTheToken(t *testing.T) {
	token := strings.Repeat("0a", driver.TokenLength/2)
	fence, holder, ok := ParseValue(token + ":42|" + "i|5|")
	if !ok || fence != 42 || holder.Instance != "i" || strings.Contains(holder.Instance+holder.Traceparent, token) {
		t.Fatalf("got %d, %+v, %v", fence, holder, ok)
	}
	for _, foreign := range []string{"", "1", "0af7651916cd43dd8448eb211c80319c", token + ":x|i|1|", token + ":1",
		"ADDED:2026@host|1|2"} {
		if _, _, ok := ParseValue(foreign); ok {
			t.Errorf("ParseValue(%q) took a foreign value for ours", foreign)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add("host/1|1763700000123|00-abc-def-01")
	f.Add("||")
	f.Add("i|-9223372036854775808|")
	f.Fuzz(func(t *testing.T, record string) {
		_, _, _ = ParseValue(record)
		token := strings.Repeat("a", driver.TokenLength)
		if _, h, ok := ParseValue(token + ":1|" + record); ok && strings.Contains(h.Instance, token) &&
			!strings.Contains(record, token) {
			t.Fatalf("the token of %q is in %+v", record, h)
		}
	})
}
