package exporter_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

func TestRoutes(t *testing.T) {
	full := newExporter(t, exporter.WithState(fixed{}), exporter.WithScanner(found{}), exporter.WithOwnServer())
	bare := newExporter(t, exporter.WithState(nil), exporter.WithScanner(nil), exporter.WithGatherer(nil),
		exporter.WithLogger(nil))
	for _, c := range []struct {
		path       string
		full, bare int
	}{
		{"/", 200, 200}, {"/metrics", 200, 200}, {"/healthz", 200, 200}, {"/readyz", 200, 503},
		{"/debug/locks", 200, 404}, {"/debug/locks/", 200, 404}, {"/debug/locks/x", 404, 404},
		{"/debug/pprof/", 404, 404}, {"/debug/pprof/heap", 404, 404},
		{"/metrics/x", 404, 404}, {"/favicon.ico", 404, 404}, {"/healthz/", 404, 404},
	} {
		if got, _ := get(full, c.path); got != c.full {
			t.Errorf("%s: %d, want %d", c.path, got, c.full)
		}
		if got, _ := get(bare, c.path); got != c.bare {
			t.Errorf("bare %s: %d, want %d", c.path, got, c.bare)
		}
	}
}

// TestOnlyReads: no address takes anything, on the Exporter's own mux or on that of a program.
func TestOnlyReads(t *testing.T) {
	e := everything(t)
	mux := http.NewServeMux()
	e.Mount(mux)
	methods := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
		http.MethodOptions, http.MethodTrace, "BREW"}
	for _, path := range e.Paths() {
		for _, method := range methods {
			for _, h := range []http.Handler{e, mux} {
				if h == mux && (path == "/" || path == "/nothing") {
					continue
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("body")))
				if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
					t.Errorf("%s %s: %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
				}
			}
		}
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Errorf("HEAD /metrics: %d", w.Code)
	}
}

func TestLandingPageLinksToWhatThereIs(t *testing.T) {
	_, full := get(newExporter(t, exporter.WithState(fixed{})), "/")
	contains(t, full, `href="/metrics"`, `href="/debug/locks"`, `href="/healthz"`, `href="/readyz"`, "lockscope")
	_, bare := get(newExporter(t), "/")
	if strings.Contains(bare, "debug/") {
		t.Errorf("links to what is not there: %s", bare)
	}
}

func TestLocksAndFindingsOnOnePage(t *testing.T) {
	e := newExporter(t,
		exporter.WithState(fixed(state.State{Instance: "me", Held: []state.Held{{Resource: "order:1"}}})),
		exporter.WithScanner(found(scanner.Snapshot{Last: report.Report{Started: time.Now(),
			Findings: []report.Finding{{Class: inspect.NoTTL, Node: "n1", Key: "lock:\x00<b>", Confirmed: true}}}})))
	code, text := get(e, "/debug/locks", "Accept: application/json")
	if code != http.StatusOK {
		t.Fatal(code, text)
	}
	contains(t, text, `"order:1"`, `"no_ttl"`)
	if strings.Contains(text, "<b>") {
		t.Errorf("a key is not escaped: %s", text)
	}
}

func TestReadiness(t *testing.T) {
	var broken atomic.Bool
	e := newExporter(t, exporter.WithOwnServer(),
		exporter.WithReadyCheck("redis", func(context.Context) error {
			if broken.Load() {
				return errors.New("no quorum\nforged: line \x1b[31m")
			}
			return nil
		}),
		exporter.WithReadyCheck("panics", func(context.Context) error {
			if broken.Load() {
				panic("s3cret")
			}
			return nil
		}),
		exporter.WithReadyCheck("fine", func(context.Context) error { return nil }))
	if code, text := get(e, "/readyz"); code != 200 || text != "ready\n" {
		t.Errorf("%d %q", code, text)
	}
	broken.Store(true)
	code, text := get(e, "/readyz")
	if want := "not ready\nredis: no quorum forged: line  [31m\npanics: the check panicked\n"; code != 503 ||
		text != want {
		t.Errorf("%d %q, want %q", code, text, want)
	}
	if code, text := get(e, "/healthz"); code != 200 || text != "ok\n" {
		t.Errorf("/healthz depends on checks: %d %q", code, text)
	}
	e.Drain()
	e.Drain()
	if code, text := get(e, "/readyz"); code != 503 || text != "not ready\nserver: shutting down\n" {
		t.Errorf("%d %q", code, text)
	}
}

// TestChecksThatHang run at the same time, do not delay the answer, and do not pile up.
func TestChecksThatHang(t *testing.T) {
	release := make(chan struct{})
	var calls, stubborn atomic.Int32
	e := newExporter(t, exporter.WithOwnServer(), exporter.WithCheckTimeout(50*time.Millisecond),
		exporter.WithReadyCheck("obedient", func(ctx context.Context) error {
			calls.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}),
		exporter.WithReadyCheck("stubborn", func(context.Context) error {
			stubborn.Add(1)
			<-release
			return nil
		}))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			code, text := get(e, "/readyz")
			if code != 503 || !strings.Contains(text, "obedient: ") ||
				!strings.Contains(text, "stubborn: no answer within 50ms\n") {
				t.Errorf("%d %q", code, text)
			}
		})
	}
	wg.Wait()
	if n := stubborn.Load(); n != 1 {
		t.Errorf("a check that hangs was called %d times at once", n)
	}
	close(release)
	for deadline := time.Now().Add(30 * time.Second); stubborn.Load() < 2; {
		get(e, "/readyz") // the hung check must not block the next
		if time.Now().After(deadline) {
			t.Fatal("the check is never called again")
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	var registry *prometheus.Registry
	var board *live.Board
	fine := func(context.Context) error { return nil }
	for name, opts := range map[string][]exporter.Option{
		"nil":            {nil},
		"nil registry":   {exporter.WithGatherer(registry)},
		"nil board":      {exporter.WithState(board)},
		"no check":       {exporter.WithReadyCheck("x", nil)},
		"no name":        {exporter.WithReadyCheck("", fine)},
		"two lines":      {exporter.WithReadyCheck("a\nb", fine)},
		"same name":      {exporter.WithReadyCheck("a", fine), exporter.WithReadyCheck("a", fine)},
		"check timeout":  {exporter.WithCheckTimeout(0)},
		"scrape timeout": {exporter.WithScrapeTimeout(-1)},
	} {
		if _, err := exporter.New(opts...); !errors.Is(err, exporter.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
