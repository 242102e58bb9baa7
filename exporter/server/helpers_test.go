package server_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

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

func newServer(t testing.TB, e *exporter.Exporter, opts ...server.Option) *server.Server {
	t.Helper()
	s, err := server.New(e, opts...)
	must(t, err)
	return s
}

// get asks the handler without a server.
func get(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// running is an Exporter with its server.
type running struct {
	exporter *exporter.Exporter
	server   *server.Server
	urls     []string
	stop     context.CancelFunc
	result   chan error
	client   *http.Client
}

// serve serves on a free port until the test or stop ends it.
func serve(t *testing.T, web server.Web, e *exporter.Exporter, opts ...server.Option) *running {
	t.Helper()
	if web.Addresses == nil {
		web.Addresses = []string{"127.0.0.1:0"}
	}
	transport := new(http.Transport)
	r := &running{exporter: e, server: newServer(t, e, opts...), result: make(chan error, 1),
		client: &http.Client{Transport: transport}}
	ready := make(chan []string, 1)
	web.Ready = func(urls []string) { ready <- urls }
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	var serving sync.WaitGroup
	serving.Go(func() { r.result <- r.server.Serve(ctx, web) })
	t.Cleanup(func() {
		cancel()
		serving.Wait()
		transport.CloseIdleConnections()
	})
	select {
	case r.urls = <-ready:
	case err := <-r.result:
		t.Fatalf("Serve returned %v", err)
	}
	return r
}

// ended returns what Serve returned.
func (r *running) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.result:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("Serve does not end")
		return nil
	}
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	res, err := r.client.Get(r.urls[0] + path)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

// stream opens the events of /debug/locks and returns its lines. The channel is closed when the stream ends.
func (r *running) stream(t *testing.T) <-chan string {
	t.Helper()
	res, err := r.client.Get(r.urls[0] + "/debug/locks?format=events")
	must(t, err)
	lines := make(chan string)
	done := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(lines)
		in := bufio.NewScanner(res.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-done:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(done)
		_ = res.Body.Close()
		reading.Wait()
	})
	return lines
}

// fixed is an exporter.StateSource.
type fixed state.State

func (s fixed) State(context.Context) state.State { return state.State(s) }

// file writes text to a temporary file.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// contains fails the test for each of parts that text lacks.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in: %.2000s", p, text)
		}
	}
}

type collectorFunc func(ch chan<- prometheus.Metric)

func (collectorFunc) Describe(chan<- *prometheus.Desc)      {}
func (f collectorFunc) Collect(ch chan<- prometheus.Metric) { f(ch) }
