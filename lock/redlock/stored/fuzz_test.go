package stored

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// FuzzQueueEntry reads what a process in a queue says about itself.
func FuzzQueueEntry(f *testing.F) {
	f.Add("1795697209842289\nvm/23304|1795697209799||1|||redis", int64(1795697209842289))
	f.Add("1795697209842289\nvm/23304|1795697209799||1|||redis\n17 order:1", int64(1795697209842289))
	f.Add("1\n", int64(2))
	f.Add("-1\n|0||1||\n\n x", int64(-1))
	f.Fuzz(func(t *testing.T, text string, at int64) {
		w := parseEntry(text, time.UnixMicro(at))
		if w != nil && !strings.Contains(text, "\n") {
			t.Fatalf("%q has no record, and says %+v", text, w)
		}
	})
}

// FuzzParseReader reads a field of the hash of a read/write lock. Its name is the owner token, which nothing shows.
func FuzzParseReader(f *testing.F) {
	token := strings.Repeat("0a", driver.TokenLength/2)
	f.Add("1795697268763:1795697208763505|vm/23261|1795697208763||5186603778d7097c.1")
	f.Add("9223372036854775807:1|a|1|")
	f.Add(":1|a|1|")
	f.Fuzz(func(t *testing.T, value string) {
		fence, expires, holder, ok := ParseReader(token, value)
		if !ok && fence != 0 && holder.Instance != "" {
			t.Fatalf("%q is no reader, and has %d, %v, %+v", value, fence, expires, holder)
		}
		if strings.Contains(holder.Instance+holder.Page+holder.CallSite, token) && !strings.Contains(value, token) {
			t.Fatalf("the token of %q is in %+v", value, holder)
		}
		if _, _, _, ok := ParseReader(value, value); ok && len(value) != driver.TokenLength {
			t.Fatalf("%q is taken for a token", value)
		}
	})
}

// FuzzReadMarker: others can write any value to the key of the marker.
func FuzzReadMarker(f *testing.F) {
	f.Add("voting|1:60000:667bcfbb7f80|35987cf26a6d527d86841db1e4a512ba531f1b43|0",
		"35987cf26a6d527d86841db1e4a512ba531f1b43")
	f.Add("quarantine|1:60000:667bcfbb7f80|a|0|new-1|61200|0|0", "a")
	f.Add("x", "")
	f.Fuzz(func(t *testing.T, value, incarnation string) {
		m := ReadMarker(value, incarnation, 0)
		if (value == "") != (m.State == MarkerNone) {
			t.Fatalf("%q is in state %v", value, m.State)
		}
		if left := m.Left(time.Minute, time.UnixMilli(1795697208763)); left < 0 || left > 0 && m.State != MarkerQuarantined {
			t.Fatalf("%q has %v left in state %v", value, left, m.State)
		}
	})
}
