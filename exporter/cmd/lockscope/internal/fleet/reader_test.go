package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const said = `{"instance":"orders-1","waiting":[
	{"resource":"stock","instance":"orders-1","for_seconds":4.5,"kind":"queued",
	"call_site":"orders/charge.go:42","holds":["order"]}],
	"blocked":[{"resource":"stock","waiting":7}],"field_of_a_later_version":{}}`

func policy(t *testing.T, text string) fleet.Policy {
	t.Helper()
	p, err := fleet.ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// served returns the address of a page with this handler.
func served(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/debug/locks"
}

func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func read(t *testing.T, r *fleet.Reader, url string) fleet.Page {
	t.Helper()
	r.Read(t.Context(), []string{url})
	pages, _ := r.Pages()
	if len(pages) != 1 || pages[0].URL != url {
		t.Fatalf("pages %+v", pages)
	}
	return pages[0]
}

// TestPagesThatCannotBeRead: each gets its own reason, which quotes nothing of their answers.
func TestPagesThatCannotBeRead(t *testing.T) {
	const secret = "s3cr3t"
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	elsewhere := served(t, answers(said))
	for name, c := range map[string]struct {
		url  string
		want error
	}{
		"dead":       {"http://127.0.0.1:1/debug/locks", nil},
		"hangs":      {served(t, hangs), fleet.ErrTimeout},
		"garbage":    {served(t, answers("<html>"+secret)), fleet.ErrNoPage},
		"other JSON": {served(t, answers(`{"`+secret+`":1}`)), fleet.ErrNoPage},
		"too large":  {served(t, answers(strings.Repeat(" ", fleet.MaxBody+1))), fleet.ErrTooLarge},
		"redirects": {served(t, func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusFound)
		}), nil},
		"other host":    {"http://198.51.100.7/debug/locks", fleet.ErrNotAllowed},
		"metadata":      {"http://169.254.169.254/debug/locks", fleet.ErrNotAllowed},
		"credentials":   {"http://u:" + secret + "@127.0.0.1/debug/locks", fleet.ErrNoAddress},
		"another path":  {strings.TrimSuffix(elsewhere, "/debug/locks") + "/admin/drop", fleet.ErrNoAddress},
		"another thing": {"file:///etc/passwd", fleet.ErrNoAddress},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := read(t, fleet.NewReader(policy(t, "127.0.0.1")), c.url)
			for range 10 { // a busy machine may not read so much in time
				if c.want != fleet.ErrTooLarge || !errors.Is(p.Err, fleet.ErrTimeout) {
					break
				}
				p = read(t, fleet.NewReader(policy(t, "127.0.0.1")), c.url)
			}
			if p.Err == nil || c.want != nil && !errors.Is(p.Err, c.want) || p.Failing.IsZero() || !p.Read.IsZero() {
				t.Errorf("%+v, want %v", p, c.want)
			}
			if strings.Contains(p.Err.Error(), secret) {
				t.Errorf("the reason quotes the answer: %v", p.Err)
			}
		})
	}
}

// TestThisMachineIsNotListed: neither a planted address nor a planted name leads to services of the host that serve
// runs on.
func TestThisMachineIsNotListed(t *testing.T) {
	url := served(t, answers(said))
	if p := read(t, fleet.NewReader(policy(t, "listed")), url); !errors.Is(p.Err, fleet.ErrLocal) {
		t.Errorf("loopback: %v", p.Err)
	}
	if p := read(t, fleet.NewReader(policy(t, "listed")), "http://169.254.169.254/debug/locks"); !errors.Is(p.Err,
		fleet.ErrLocal) {
		t.Errorf("link-local: %v", p.Err)
	}
	if p := read(t, fleet.NewReader(policy(t, "*.0.0.1")), url); p.Err != nil {
		t.Errorf("allowed by a pattern: %v", p.Err)
	}
}

// TestPageIsReadAndForgotten: a page that answers is read no more often than allowed, and forgotten with its lock.
func TestPageIsReadAndForgotten(t *testing.T) {
	var asked atomic.Int32
	var query atomic.Value
	url := served(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		query.Store(r.URL.RawQuery + r.Header.Get("Cookie") + r.Header.Get("Authorization"))
		answers(said)(w, r)
	})
	r := fleet.NewReader(policy(t, "10.*, 127.0.0.1"))
	p := read(t, r, url)
	if p.Err != nil || p.Instance != "orders-1" || p.Read.IsZero() || len(p.Calls) != 1 || len(p.Counts) != 1 ||
		p.Counts[0].Waiting != 7 {
		t.Fatalf("%+v", p)
	}
	if c := p.Calls[0]; c.CallSite != "orders/charge.go:42" || c.For != 4.5 || len(c.Holds) != 1 {
		t.Errorf("%+v", c)
	}
	read(t, r, url)
	if n := asked.Load(); n != 1 || query.Load() != "format=json" {
		t.Errorf("asked %d times, the last with %q", n, query.Load())
	}
	r.Read(t.Context(), nil)
	if pages, _ := r.Pages(); len(pages) != 0 {
		t.Errorf("remembered: %+v", pages)
	}
}

// TestPlantedAddressesKeepNoPageOut: of more addresses than are read, those that answered stay, and the others take
// turns.
func TestPlantedAddressesKeepNoPageOut(t *testing.T) {
	url := served(t, answers(said))
	var planted []string
	for i := range 2 * fleet.MaxPages {
		planted = append(planted, fmt.Sprintf("http://198.51.100.7:%d/debug/locks", i+1))
	}
	r := fleet.NewReader(policy(t, "127.0.0.1"))
	now := time.Now()
	r.SetClock(func() time.Time { return now })
	found := func() bool {
		r.Read(t.Context(), append(planted, url))
		pages, omitted := r.Pages()
		if len(pages) != fleet.MaxPages || omitted != fleet.MaxPages+1 {
			t.Fatalf("%d pages, %d omitted", len(pages), omitted)
		}
		now = now.Add(fleet.Every)
		return slices.ContainsFunc(pages, func(p fleet.Page) bool { return p.URL == url && p.Err == nil })
	}
	rounds := 1
	for ; !found(); rounds++ {
		if rounds == 100 {
			t.Fatal("the page that answers was never read")
		}
	}
	for range 5 {
		if !found() {
			t.Error("the page that answers was read, and is not any more")
		}
	}
}

// TestReadEndsWithItsContext, and pages that had no time to answer do not count as failed.
func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := served(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	r := fleet.NewReader(policy(t, "127.0.0.1"))
	began := time.Now()
	r.Read(ctx, []string{url})
	if pages, _ := r.Pages(); len(pages) != 1 || pages[0].Err != nil || time.Since(began) > fleet.Timeout {
		t.Errorf("%v: %+v", time.Since(began), pages)
	}
}
