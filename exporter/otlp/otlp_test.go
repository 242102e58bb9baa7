package otlp_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/exporter/otlp/otlptest"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() { // ignore the developer's own variables
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			_ = os.Unsetenv(name)
		}
	}
	leaktest.Main(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// environ sets variables given as name=value.
func environ(t *testing.T, vars ...string) {
	for _, kv := range vars {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
}

func span(p trace.TracerProvider, name string) {
	_, s := p.Tracer("test").Start(context.Background(), name)
	s.End()
}

func TestSpansArrive(t *testing.T) {
	for protocol, start := range map[string]func(testing.TB) *otlptest.Receiver{"http/protobuf": otlptest.NewHTTP,
		"grpc": otlptest.NewGRPC} {
		t.Run(protocol, func(t *testing.T) {
			r := start(t)
			environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
				"OTEL_EXPORTER_OTLP_HEADERS=x-tenant=blue%20team", "OTEL_RESOURCE_ATTRIBUTES=stage=test,host.name=h1",
				"OTEL_BSP_SCHEDULE_DELAY=10")
			p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders",
				otlp.WithAttributes(attribute.String("stage", "prod"), attribute.String("color", "red")))
			must(t, err)
			span(p, "first")
			r.Await(t, "the first span arrives by itself", func(s []otlptest.Span) bool { return len(s) == 1 })
			span(p, "last")
			must(t, shutdown(t.Context()))
			must(t, shutdown(t.Context()))
			span(p, "too late")
			spans := r.Spans()
			if len(spans) != 2 || spans[1].Name != "last" {
				t.Fatalf("spans are %v", spans)
			}
			got := spans[0].Resource
			for key, want := range map[string]string{"service.name": "orders", "stage": "test", "color": "red",
				"host.name": "h1"} {
				if got[key] != want {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
			}
			if h := r.Headers()[0]["x-tenant"]; h != "blue team" {
				t.Errorf("x-tenant is %q", h)
			}
		})
	}
}

func TestSignalVariablesWin(t *testing.T) {
	r := otlptest.NewHTTP(t)
	environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+r.URL+
		"/v1/traces",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf",
		"OTEL_SERVICE_NAME=renamed")
	p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders")
	must(t, err)
	span(p, "one")
	must(t, shutdown(t.Context()))
	if s := r.Spans(); len(s) != 1 || s[0].Resource["service.name"] != "renamed" {
		t.Errorf("spans are %v", s)
	}
}

func TestSampler(t *testing.T) {
	r := otlptest.NewHTTP(t)
	environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0")
	p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders")
	must(t, err)
	span(p, "one")
	must(t, shutdown(t.Context()))
	if s := r.Spans(); len(s) != 0 {
		t.Errorf("%d spans were sampled", len(s))
	}
}

// TestOff: nothing runs and nothing records.
func TestOff(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for name, vars := range map[string][]string{
		"nothing set":    nil,
		"empty endpoint": {"OTEL_EXPORTER_OTLP_ENDPOINT= "},
		"exporter none":  {endpoint, "OTEL_TRACES_EXPORTER=none"},
		"disabled":       {endpoint, "OTEL_SDK_DISABLED=TRUE"},
		"bad but off":    {"OTEL_SDK_DISABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=:::"},
	} {
		t.Run(name, func(t *testing.T) {
			environ(t, vars...)
			before := runtime.NumGoroutine()
			p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders")
			must(t, err)
			if _, s := p.Tracer("test").Start(t.Context(), "x"); s.IsRecording() || s.SpanContext().IsValid() {
				t.Error("a span is recorded")
			}
			if now := runtime.NumGoroutine(); now > before {
				t.Errorf("%d goroutines were started", now-before)
			}
			must(t, shutdown(t.Context()))
		})
	}
}

func TestInvalidEnvironment(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/empty.pem", nil, 0o600))
	for _, kv := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318",
		"OTEL_EXPORTER_OTLP_ENDPOINT=ftp://collector",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:99999",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:s3cret@collector:4318",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:s3cret@coll ector",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=nonsense",
		"OTEL_EXPORTER_OTLP_PROTOCOL=http/json",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=carrier pigeon",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization: Bearer s3cret",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=%zzs3cret",
		"OTEL_EXPORTER_OTLP_TIMEOUT=10s",
		"OTEL_EXPORTER_OTLP_COMPRESSION=zip",
		"OTEL_EXPORTER_OTLP_INSECURE=maybe",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=" + dir + "/missing.pem",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=" + dir + "/empty.pem",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY=" + dir + "/empty.pem",
		"OTEL_TRACES_EXPORTER=jaeger",
		"OTEL_SDK_DISABLED=1",
		"OTEL_TRACES_SAMPLER=sometimes",
		"OTEL_BSP_SCHEDULE_DELAY=soon",
		"OTEL_BSP_MAX_QUEUE_SIZE=-1",
		"OTEL_BSP_EXPORT_TIMEOUT=0",
		"OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1.5",
		"OTEL_RESOURCE_ATTRIBUTES=novalue",
	} {
		t.Run(kv, func(t *testing.T) {
			environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", kv)
			_, _, err := otlp.NewTracerProvider(t.Context(), "orders")
			if name, _, _ := strings.Cut(kv, "="); !errors.Is(err, otlp.ErrInvalidEnvironment) ||
				!strings.Contains(err.Error(), name) {
				t.Errorf("error is %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	t.Run("ratio", func(t *testing.T) {
		environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_TRACES_SAMPLER=traceidratio",
			"OTEL_TRACES_SAMPLER_ARG=NaN")
		if _, _, err := otlp.NewTracerProvider(t.Context(), "orders"); !errors.Is(err, otlp.ErrInvalidEnvironment) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestInvalidOptions(t *testing.T) {
	if _, _, err := otlp.NewTracerProvider(t.Context(), "x", nil); !errors.Is(err, otlp.ErrInvalidOption) {
		t.Errorf("nil option: %v", err)
	}
	if _, _, err := otlp.NewTracerProvider(t.Context(), " "); !errors.Is(err, otlp.ErrInvalidOption) {
		t.Errorf("no name: %v", err)
	}
	_, shutdown, err := otlp.NewTracerProvider(t.Context(), "x", otlp.WithLogger(nil))
	must(t, err)
	must(t, shutdown(t.Context()))
}

// hanging takes requests and answers none until the test ends.
func hanging(t *testing.T) string {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(func() {
		close(done)
		s.Close()
	})
	return s.URL
}

// TestCollectorDown: while spans cannot be delivered, locks work, the logger gets a record, and a shutdown ends with
// its context.
func TestCollectorDown(t *testing.T) {
	for name, vars := range map[string][]string{
		"http refused": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"},
		"http hangs":   {"OTEL_EXPORTER_OTLP_ENDPOINT=" + hanging(t)},
		"grpc refused": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
		"grpc hangs":   {"OTEL_EXPORTER_OTLP_ENDPOINT=" + hanging(t), "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			environ(t, append(vars, "OTEL_BSP_SCHEDULE_DELAY=1", "OTEL_BSP_MAX_QUEUE_SIZE=16",
				"OTEL_BSP_EXPORT_TIMEOUT=1000")...)
			told := make(told, 1)
			p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders", otlp.WithLogger(slog.New(told)))
			must(t, err)
			locker, err := instrument.Wrap(locktest.NewFakes(t, 3, lock.WithNodeTimeout(2*time.Second))(t),
				instrument.WithTracerProvider(p))
			must(t, err)
			for range 200 {
				must(t, lock.Do(t.Context(), locker, "order:1", func(context.Context, lock.Lease) error { return nil }))
			}
			select {
			case r := <-told:
				if r.Message != "spans could not be delivered" {
					t.Errorf("told: %v", r)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("nobody was told that the collector is down")
			}
			span(p, "last")
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			err = shutdown(ctx)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("shutdown took %v", took)
			}
			if !errors.Is(err, otlp.ErrSpansLost) {
				t.Errorf("shutdown returned %v", err)
			}
		})
	}
}

// TestShutdownEnds does not wait for an export that would take ten minutes, and leaves no goroutine for it.
func TestShutdownEnds(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			environ(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+hanging(t), "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
				"OTEL_BSP_EXPORT_TIMEOUT=600000", "OTEL_EXPORTER_OTLP_TIMEOUT=600000")
			p, shutdown, err := otlp.NewTracerProvider(t.Context(), "orders")
			must(t, err)
			span(p, "last")
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			before := runtime.NumGoroutine()
			if err := shutdown(ctx); !errors.Is(err, otlp.ErrSpansLost) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("shutdown returned %v", err)
			}
			for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
				}
			}
		})
	}
}

// told sends the first record to the test.
type told chan slog.Record

func (told) Enabled(context.Context, slog.Level) bool { return true }
func (h told) Handle(_ context.Context, r slog.Record) error {
	select {
	case h <- r:
	default:
	}
	return nil
}
func (h told) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h told) WithGroup(string) slog.Handler      { return h }
