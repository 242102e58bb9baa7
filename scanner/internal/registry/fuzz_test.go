package registry

import (
	"testing"
	"time"
)

// FuzzDecode: the stored state may be damaged, or somebody else's.
func FuzzDecode(f *testing.F) {
	now := time.Unix(1795697208, 0)
	full, err := Encode(State{Writer: "a"}, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{"version":1,"saved":"2026-11-26T12:00:00Z","salt":"AAAA","watches":{"r1":{}},` +
		`"findings":[{"Key":"bG9jazph",` +
		`"Class":"no_ttl","TTL":-1,"FirstSeen":"0001-01-01T00:00:00Z","LastSeen":"9999-12-31T00:00:00Z"}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data, now)
		if err != nil {
			return
		}
		text, err := Encode(s, now)
		if err != nil {
			return // a year beyond 9999
		}
		again, err := Decode(text, now)
		if err != nil || len(again.Entries) != len(s.Entries) || again.Writer != s.Writer {
			t.Fatalf("%q is stored as %q: %v", data, text, err)
		}
	})
}
