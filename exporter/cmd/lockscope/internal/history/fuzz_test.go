package history

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// FuzzDecode: a page's history may come from any server.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"instance":"a","from":"2026-11-26T02:10:00Z","to":"2026-11-26T02:20:00Z","buckets":10,` +
		`"bucket_seconds":60,` +
		`"complete_from":"2026-11-26T02:00:00Z","classes":[],"blockers":[]}`))
	f.Add([]byte(`{"instance":"a","buckets":-1}`))
	f.Add([]byte(`[]`))
	from := time.Date(2026, 11, 26, 2, 10, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &report{}
		r.From, r.To = from, from.Add(10*time.Minute)
		d, err := r.decode(fleet.View{Page: "http://h/debug/locks", Body: body})
		if err == nil && (d.Buckets < 1 || d.Buckets > state.MaxBuckets || !sound(d)) {
			t.Fatalf("%q: %+v", body, d)
		}
	})
}
