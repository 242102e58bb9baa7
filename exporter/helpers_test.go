package exporter_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/scanner"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	leaktest.Main(m)
}

// quiet keeps go-redis from logging every refused dial to a node that a test has stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !yes(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func newExporter(t testing.TB, opts ...exporter.Option) *exporter.Exporter {
	t.Helper()
	e, err := exporter.New(opts...)
	must(t, err)
	t.Cleanup(e.Drain)
	return e
}

// get asks the handler without a server.
func get(e http.Handler, path string, headers ...string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// fixed is a StateSource.
type fixed state.State

func (s fixed) State(context.Context) state.State { return state.State(s) }

// found is a Snapshotter.
type found scanner.Snapshot

func (f found) Snapshot() scanner.Snapshot { return scanner.Snapshot(f) }

// contains fails the test for each of parts that text lacks.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in: %.2000s", p, text)
		}
	}
}
