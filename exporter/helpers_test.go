package exporter_test

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

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/scanner"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m)
}

// quiet keeps go-redis from reporting every refused dial to a node that a test has stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newExporter(t testing.TB, opts ...exporter.Option) *exporter.Exporter {
	t.Helper()
	e, err := exporter.New(opts...)
	must(t, err)
	t.Cleanup(e.Drain)
	return e
}

// get asks the handler, without a server.
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

// running is an Exporter that serves.
type running struct {
	*exporter.Exporter
	urls   []string
	stop   context.CancelFunc
	result chan error
	client *http.Client
}

// serve serves on a free port, until the test or stop ends it.
func serve(t *testing.T, web exporter.Web, opts ...exporter.Option) *running {
	t.Helper()
	if web.Addresses == nil {
		web.Addresses = []string{"127.0.0.1:0"}
	}
	transport := new(http.Transport)
	r := &running{Exporter: newExporter(t, opts...), result: make(chan error, 1), client: &http.Client{Transport: transport}}
	ready := make(chan []string, 1)
	web.Ready = func(urls []string) { ready <- urls }
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	var serving sync.WaitGroup
	serving.Go(func() { r.result <- r.Serve(ctx, web) })
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

// ended is what Serve returned.
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

// stream opens the events of /debug/locks and returns its lines; the channel is
// closed when the stream ends.
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

// state is a StateSource.
type state live.State

func (s state) State(context.Context) live.State { return live.State(s) }

// found is a Snapshotter.
type found scanner.Snapshot

func (f found) Snapshot() scanner.Snapshot { return scanner.Snapshot(f) }

// file writes text to a file of the test's own.
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
