package exporter_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
)

// everything has all routes that there are.
func everything(t *testing.T) *exporter.Exporter {
	t.Helper()
	board, err := live.New()
	must(t, err)
	e := newExporter(t, exporter.WithState(board), exporter.WithScanner(found{}), exporter.WithOwnServer(),
		exporter.WithFleet(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
		})))
	if paths := e.Paths(); len(paths) < 12 || len(paths) != len(unique(paths)) {
		t.Fatalf("routes %q: the test looks at too few", paths)
	}
	return e
}

func unique(all []string) map[string]bool {
	seen := make(map[string]bool)
	for _, s := range all {
		seen[s] = true
	}
	return seen
}

// TestHeaders: no answer, of whatever status and format, may run a script of somebody else, be framed, be taken for
// another type or tell its address to another site.
func TestHeaders(t *testing.T) {
	e := everything(t)
	for _, path := range e.Paths() {
		for _, c := range []struct{ method, accept string }{
			{http.MethodHead, "text/html"}, {http.MethodHead, "application/json"}, {http.MethodPost, "text/html"},
		} {
			r := httptest.NewRequest(c.method, path, nil)
			r.Header.Set("Accept", c.accept)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			csp := w.Header().Get("Content-Security-Policy")
			for _, want := range []string{
				"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
			} {
				if !strings.Contains(csp, want) {
					t.Errorf("%v %s: the policy is %q, without %s", c, path, csp, want)
				}
			}
			if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || strings.Contains(csp, "http") {
				t.Errorf("%v %s: the policy %q allows other origins", c, path, csp)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%v %s: %s is %q, want %q", c, path, name, got, want)
				}
			}
		}
	}
}
