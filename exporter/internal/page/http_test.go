package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/scanner/report"
)

func ask(h http.Handler, method, target, accept string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	must(t, err)
	return string(b)
}

func TestFormats(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()))
	const html, jsonType, events = "text/html; charset=utf-8", "application/json; charset=utf-8",
		"text/event-stream; charset=utf-8"
	for _, test := range []struct{ target, accept, want string }{
		{"/", "", html},
		{"/", "*/*", html},
		{"/", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", html},
		{"/", "application/json", jsonType},
		{"/", "application/json, text/plain, */*", jsonType},
		{"/", "text/html;q=0.5, application/json", jsonType},
		{"/", "application/json;q=0, text/html", html},
		{"/", "application/json;q=broken", html},
		{"/", ",,;", html},
		{"/", "text/event-stream", events},
		{"/any/path/?format=json", "text/html", jsonType},
		{"/?format=html", "application/json", html},
		{"/?format=events", "", events},
	} {
		// HEAD, because a stream would not end
		r := ask(h, http.MethodHead, test.target, test.accept)
		if got := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || got != test.want {
			t.Errorf("%s with Accept %q: %d %q, want %q", test.target, test.accept, r.StatusCode, got, test.want)
		}
		if b := body(t, r); test.want == events && b != "" {
			t.Errorf("HEAD of a stream has a body: %q", b)
		}
	}
	for _, format := range []string{"xml", "JSON", ""} {
		r := ask(h, http.MethodGet, "/?format="+format, "")
		if b := body(t, r); r.StatusCode != http.StatusBadRequest || !strings.Contains(b, "html, json or events") {
			t.Errorf("format %q: %d %s", format, r.StatusCode, b)
		}
	}
}

func TestMethods(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions,
		http.MethodPatch} {
		r := ask(h, method, "/", "")
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

func TestHeaders(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()))
	for target, cache := range map[string]string{"/": "no-cache", "/?format=json": "no-store",
		"/?format=x": "no-store"} {
		header := ask(h, http.MethodGet, target, "").Header
		csp := header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-",
			"connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
			"require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, directive) {
				t.Errorf("%s: policy %q lacks %s", target, csp, directive)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: unsafe policy %q", target, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cache-Control": cache, "Vary": "Accept", "Set-Cookie": ""} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
	}
}

func TestPageIsCached(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()))
	first := ask(h, http.MethodGet, "/", "")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", first.Header.Get("ETag"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the same page again: %d with %d bytes", w.Code, w.Body.Len())
	}
}

func TestDocument(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Busy(time.Now())), page.WithReport(livetest.Report))
	r := ask(h, http.MethodGet, "/", "application/json")
	var got struct {
		state.State
		Scan struct {
			Findings []map[string]any
			Pending  []map[string]any
			Resolved []map[string]any
			Nodes    []map[string]any
			Took     float64 `json:"took_seconds"`
		}
	}
	must(t, json.Unmarshal([]byte(body(t, r)), &got))
	if len(got.Held) != 6 || got.Waiting[2].Blocker.Holder != "billing-84cc/1" ||
		got.Held[0].Fence != 1791043210123456 || len(got.Slowest[0].Steps) != 19 {
		t.Errorf("the state is not inlined: %+v", got.State)
	}
	f := append(got.Scan.Findings, got.Scan.Pending...)
	if len(f) != 5 || len(got.Scan.Pending) != 1 || len(got.Scan.Resolved) != 1 || got.Scan.Took != .82 ||
		got.Scan.Nodes[2]["error"] != "connection refused" {
		t.Fatalf("scan: %+v", got.Scan)
	}
	for _, field := range []string{"class", "node", "key", "type", "ttl_seconds", "holder", "evidence", "first_seen"} {
		if _, ok := f[0][field]; !ok {
			t.Errorf("a finding has no %s: %v", field, f[0])
		}
	}
	if f[0]["ttl_seconds"] != nil || f[2]["ttl_seconds"] != 9.0 || f[4]["key"] != `"lock:cart:1\x1b[2J"` {
		t.Errorf("findings: %v", f)
	}
}

func TestEmptyDocument(t *testing.T) {
	for name, h := range map[string]*page.Handler{
		"no source": page.New(nil),
		"idle":      page.New(livetest.Fixed(state.State{Slowest: []state.Acquisition{{}}})),
		"no report": page.New(nil, page.WithReport(func() (report.Report, bool) { return report.Report{}, false })),
	} {
		text := body(t, ask(h, http.MethodGet, "/?format=json", ""))
		for _, list := range []string{"held", "waiting", "waits", "nodes", "slowest", "steps", "findings"} {
			if strings.Contains(text, `"`+list+`":null`) {
				t.Errorf("%s: %s is null: %s", name, list, text)
			}
		}
		if noScan := strings.Contains(text, `"scan":null`); noScan == (name == "no report") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestJSONIsInert has names that would be markup if a browser took JSON for a page.
func TestJSONIsInert(t *testing.T) {
	text := body(t, ask(page.New(livetest.NewSource(livetest.Hostile)), http.MethodGet, "/?format=json", ""))
	if strings.ContainsAny(text, "<>") || strings.Contains(text, "\u2028") || strings.Count(text, "\n") != 1 {
		t.Error("JSON holds markup or lines")
	}
}

type panicking struct{}

func (panicking) State(context.Context) state.State { panic("secret") }

func TestBadSources(t *testing.T) {
	for name, h := range map[string]*page.Handler{
		"panics":        page.New(panicking{}),
		"report panics": page.New(nil, page.WithReport(func() (report.Report, bool) { panic("secret") })),
		"no number":     page.New(livetest.Fixed(state.State{Held: []state.Held{{Age: math.NaN()}}})),
	} {
		r := ask(h, http.MethodGet, "/?format=json", "")
		if text := body(t, r); r.StatusCode != http.StatusInternalServerError || strings.Contains(text, "secret") ||
			!strings.Contains(text, `"error":`) {
			t.Errorf("%s: %d %s", name, r.StatusCode, text)
		}
		r = ask(h, http.MethodGet, "/?format=events", "") // it ends by itself
		if text := body(t, r); text != "" {
			t.Errorf("%s: a stream of %q", name, text)
		}
		must(t, h.Close())
	}
}

type slow struct{ err chan error }

func (s slow) State(ctx context.Context) state.State {
	<-ctx.Done()
	s.err <- ctx.Err()
	return livetest.Idle()
}

func TestSlowSource(t *testing.T) {
	s := slow{make(chan error, 1)}
	r := ask(page.New(s, page.WithSourceTimeout(time.Millisecond)), http.MethodGet, "/?format=json", "")
	if err := <-s.err; r.StatusCode != http.StatusOK || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d, and the source was told %v", r.StatusCode, err)
	}
}

// TestWaitersOfTwoBackends, of a source that lists them and no rows, wait for two locks of one name.
func TestWaitersOfTwoBackends(t *testing.T) {
	h := page.New(livetest.Fixed(state.State{Waiting: []state.Waiter{
		{Resource: "job", Backend: "a", For: 2}, {Resource: "job", Backend: "b", For: 1}, {Resource: "job", Backend: "a", For: 1},
	}}))
	var got state.State
	must(t, json.Unmarshal([]byte(body(t, ask(h, http.MethodGet, "/?format=json", ""))), &got))
	if len(got.Blocked) != 2 || got.Blocked[0].Backend != "a" || got.Blocked[0].Waiting != 2 ||
		got.Blocked[1].Backend != "b" || got.Blocked[1].Waiting != 1 || got.Totals.Contended != 2 {
		t.Errorf("%+v, totals %+v", got.Blocked, got.Totals)
	}
}
