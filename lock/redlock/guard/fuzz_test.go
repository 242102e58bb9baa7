package guard

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzMarker: anybody who can write to Redis can write a marker, and errors quote its configuration.
func FuzzMarker(f *testing.F) {
	for _, s := range []string{
		"", "voting", "voting|1:60000:667bcfbb7f80|35987cf26a6d527d86841db1e4a512ba531f1b43|0",
		"quarantine|3:60000:6a09e667f3bc|35987cf26a6d527d86841db1e4a512ba531f1b43|0|vouch-1|" +
			"61200|1763700000123|1763700000124",
		"quarantine|3:60000:6a09e667f3bc|a|0|new-1|9223372036854775807|0|0",
		"change|3:60000:6a09e667f3bc|a|0|left-1|60000|1|1|5:60000:6a09e667f3bc",
		"changing|\x1b[31m:9223372036854775807:\n|a|0|change-1|60000|1|1|\x1b]0;x\a:1:y",
	} {
		f.Add(s)
	}
	now := time.UnixMilli(1763700000123)
	f.Fuzz(func(t *testing.T, value string) {
		m, ok := ParseMarker(value)
		if !ok && m != (Marker{}) {
			t.Fatalf("%q is no marker, and has %+v", value, m)
		}
		if m.Length < 0 || m.Left(time.Minute, now) < 0 {
			t.Fatalf("%q lasts %v and has %v left", value, m.Length, m.Left(time.Minute, now))
		}
		for _, text := range []string{m.Fingerprint.String(), m.From.String(), otherConfiguration(m, "3:1:a").Error()} {
			if strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q is shown with a control character: %q", value, text)
			}
		}
	})
}
