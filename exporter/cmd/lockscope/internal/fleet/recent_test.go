package fleet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

// TestRatesOfAPage: what it measures, what it does not, and what it can only have made up.
func TestRatesOfAPage(t *testing.T) {
	const (
		begin = `{"instance":"orders-1","waiting":[{"resource":"stock","for_seconds":1,"class":"no_quorum"}]`
		total = `,"totals":{"recent":{"ended":120,"failed":30,"p99_seconds":0.25}}`
	)
	for name, c := range map[string]struct {
		page  string
		want  *fleet.Recent
		rate  float64 // of stock
		heldP time.Duration
	}{
		"measures":        {begin + total + `}`, &fleet.Recent{Ended: 120, Failed: 30, P99: 250 * time.Millisecond}, 0, 0},
		"reads the nodes": {begin + total + `,"read_seconds":1.5}`, nil, 0, 0},
		"older version":   {begin + `}`, nil, 0, 0},
		"numbers of a liar": {begin + `,"totals":{"recent":{"ended":-5,"failed":9,"p99_seconds":-1}}}`,
			&fleet.Recent{}, 0, 0},
		"history": {begin + `,"history":[{"resource":"stock","holds":[{"ended_seconds":1,"took_seconds":2},
			{"ended_seconds":30,"took_seconds":4},{"ended_seconds":61,"took_seconds":9},
			{"ended_seconds":2,"took_seconds":9,"elsewhere":true}]}]}`, nil, 2.0 / 60, 4 * time.Second},
		"history that is cut": {begin + `,"history":[{"resource":"stock","holds":[` +
			strings.Repeat(`{"ended_seconds":4,"took_seconds":0.1},`, 19) + `{"ended_seconds":5,"took_seconds":0.1}]}]}`,
			nil, 4, 100 * time.Millisecond},
	} {
		url := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.page)) })
		r := fleet.NewReader(policy(t, "127.0.0.1"))
		r.Read(t.Context(), []string{url})
		pages, _ := r.Pages()
		p := pages[0]
		if p.Err != nil || (p.Recent == nil) != (c.want == nil) || c.want != nil && *p.Recent != *c.want {
			t.Errorf("%s: %+v, %v", name, p.Recent, p.Err)
		}
		if p.Calls[0].Class != "no_quorum" {
			t.Errorf("%s: class %q", name, p.Calls[0].Class)
		}
		if (len(p.Turnover) > 0) != (c.rate > 0) {
			t.Errorf("%s: %+v", name, p.Turnover)
		} else if c.rate > 0 && (p.Turnover[0].Rate != c.rate || p.Turnover[0].HeldP99 != c.heldP) {
			t.Errorf("%s: %+v", name, p.Turnover)
		}
	}
}
