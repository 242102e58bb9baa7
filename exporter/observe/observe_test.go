package observe_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) {
	if nodes := os.Getenv(inChild); nodes != "" {
		if err := child(strings.Split(nodes, ",")); err != nil {
			slog.New(slog.NewJSONHandler(os.Stdout, nil)).Error("failed", "error", err)
			os.Exit(1)
		}
		return
	}
	redis.SetLogger(&logging.VoidLogger{})
	m.Run()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *text) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// TestRedis: one call gives all parts, under one name, on the program's own mux.
func TestRedis(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	recorder, logs := tracetest.NewSpanRecorder(), new(text)
	locks, err := observe.Redis([]string{"redis://" + server.Addr()}, observe.Config{
		Instance:       "orders-1",
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)),
		Logger:         slog.New(slog.NewTextHandler(logs, nil)),
	})
	must(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the program's own")) })
	locks.Mount(mux)

	must(t, lock.Do(t.Context(), locks, "order:1001", func(ctx context.Context, _ lock.Lease) error {
		_, err := locks.Acquire(ctx, "order:1001", lock.NoWait())
		if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Holder.Instance != "orders-1" {
			t.Errorf("%v, want that orders-1 holds it", err)
		}
		for path, want := range map[string]string{
			"/metrics": `distributed_lock_held{resource="order:*"} 1`,
			"/metrics?": `distributed_lock_connection_dial_failures_total{backend="redis",lock_node="` +
				server.Addr() + `"} 0`,
			"/debug/locks?format=json": `"instance":"orders-1"`,
			"/healthz":                 "ok",
			"/readyz":                  "ready",
			"/":                        "the program's own",
		} {
			if code, body := get(mux, path); code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d, without %s: %.2000s", path, code, want, body)
			}
		}
		return nil
	}))
	must(t, server.Kill())
	if code, _ := get(mux, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz says %d without a node", code)
	}
	_, _ = locks.Acquire(t.Context(), "order:1001", lock.NoWait())
	must(t, locks.Shutdown(t.Context()))
	if _, err := locks.Acquire(t.Context(), "x"); !errors.Is(err, lock.ErrClosed) {
		t.Errorf("after Shutdown: %v", err)
	}
	if code, _ := get(mux, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz says %d after Shutdown", code)
	}
	if !strings.Contains(logs.b.String(), "no quorum") {
		t.Errorf("logged: %s", logs.b.String())
	}
	if len(recorder.Ended()) == 0 {
		t.Error("no spans")
	}
}

// TestInstance: the name is given once, on the lock or in the Config, and the page and the checks have it.
func TestInstance(t *testing.T) {
	engine, err := memlock.New(memlock.NewNodes(1), lock.WithInstance("orders-1|\n"))
	must(t, err)
	defer engine.Close()
	if engine.Instance() != "orders-1__" {
		t.Errorf("%q is not what a lock's value holds", engine.Instance())
	}
	locks, err := observe.New(engine, observe.Config{})
	must(t, err)
	if _, body := get(locks, "/debug/locks?format=json"); !strings.Contains(body, `"instance":"orders-1__"`) {
		t.Errorf("the page has another name: %.200s", body)
	}
	if _, err := observe.New(engine, observe.Config{Instance: "orders-2"}); !errors.Is(err,
		instrument.ErrInvalidOption) {
		t.Errorf("two names: %v", err)
	}
	locks, err = observe.Redis([]string{"redis://127.0.0.1:1"}, observe.Config{}, lock.WithInstance("batch"))
	must(t, err)
	defer func() { must(t, locks.Shutdown(t.Context())) }()
	if _, body := get(locks, "/debug/locks?format=json"); !strings.Contains(body, `"instance":"batch"`) {
		t.Errorf("the page has another name: %.200s", body)
	}
}

// TestNew does not close the caller's Locker, and accepts options for its parts.
func TestNew(t *testing.T) {
	engine, err := memlock.New(memlock.NewNodes(3))
	must(t, err)
	defer engine.Close()
	registry := prometheus.NewRegistry()
	locks, err := observe.New(engine, observe.Config{
		Registry: registry, OwnPort: true, Instrument: []instrument.Option{instrument.WithResources("nightly")},
	})
	must(t, err)
	if code, body := get(locks, "/readyz"); code != http.StatusServiceUnavailable ||
		!strings.Contains(body, "not listening") {
		t.Errorf("/readyz: %d %s", code, body)
	}
	families, err := registry.Gather()
	must(t, err)
	if len(families) == 0 {
		t.Error("nothing in the registry that was given")
	}
	must(t, locks.Shutdown(t.Context()))
	must(t, lock.Do(t.Context(), engine, "x", func(context.Context, lock.Lease) error { return nil }))
}

func TestBadConfig(t *testing.T) {
	engine, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer engine.Close()
	for name, made := range map[string]func() (*observe.Locks, error){
		"nil Locker": func() (*observe.Locks, error) { return observe.New(nil, observe.Config{}) },
		"instrument": func() (*observe.Locks, error) {
			return observe.New(engine, observe.Config{Instrument: []instrument.Option{nil}})
		},
		"board": func() (*observe.Locks, error) {
			return observe.New(engine,
				observe.Config{Board: []live.Option{nil}})
		},
		"no URL": func() (*observe.Locks, error) { return observe.Redis(nil, observe.Config{}) },
		"closed again": func() (*observe.Locks, error) {
			return observe.Redis([]string{"redis://127.0.0.1:1"}, observe.Config{Instrument: []instrument.Option{nil}})
		},
	} {
		if l, err := made(); err == nil || l != nil {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}
