package zaplog_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newLogger(t *testing.T, opts ...zaplog.Option) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	logger, flush, err := zaplog.New(&out, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flush(); err != nil {
			t.Error(err)
		}
	})
	return logger, &out
}

// spanContext returns a context with a sampled span.
func spanContext(t *testing.T) context.Context {
	return trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1, 2, 3}, SpanID: trace.SpanID{4, 5}, TraceFlags: trace.FlagsSampled,
	}))
}

func records(t *testing.T, out *bytes.Buffer) (all []map[string]any) {
	t.Helper()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var r map[string]any
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		all = append(all, r)
	}
	return all
}

// TestHandler runs the standard library's check of handlers, the second time with every record inside a span.
func TestHandler(t *testing.T) {
	for name, wrap := range map[string]func(slog.Handler) slog.Handler{
		"bare":    func(h slog.Handler) slog.Handler { return h },
		"in span": func(h slog.Handler) slog.Handler { return inSpan{h, spanContext(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			logger, out := newLogger(t)
			err := slogtest.TestHandler(wrap(logger.Handler()), func() []map[string]any { return records(t, out) })
			if err != nil {
				t.Error(err)
			}
		})
	}
}

type inSpan struct {
	slog.Handler
	ctx context.Context
}

func (h inSpan) Handle(_ context.Context, r slog.Record) error { return h.Handler.Handle(h.ctx, r) }
func (h inSpan) WithAttrs(a []slog.Attr) slog.Handler          { return inSpan{h.Handler.WithAttrs(a), h.ctx} }
func (h inSpan) WithGroup(n string) slog.Handler               { return inSpan{h.Handler.WithGroup(n), h.ctx} }

func TestTraceIDsStayAtTheTop(t *testing.T) {
	ctx := spanContext(t)
	for name, log := range map[string]func(*slog.Logger){
		"plain":      func(l *slog.Logger) { l.InfoContext(ctx, "m", "k", "v") },
		"attributes": func(l *slog.Logger) { l.With("a", 1).InfoContext(ctx, "m", "k", "v") },
		"group":      func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "m", "k", "v") },
		"group and more": func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").InfoContext(ctx, "m", "k", "v")
		},
		"id in the group": func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "m", "trace_id", "another") },
	} {
		logger, out := newLogger(t)
		log(logger)
		r := records(t, out)[0]
		if r["trace_id"] != "01020300000000000000000000000000" || r["span_id"] != "0405000000000000" ||
			r["trace_flags"] != "01" {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestIDsAreToldOnce: records of instrument bring the ids themselves, for handlers that know nothing of traces.
func TestIDsAreToldOnce(t *testing.T) {
	logger, out := newLogger(t)
	logger.WithGroup("g").InfoContext(spanContext(t), "m", "k", "v",
		"trace_id", "01020300000000000000000000000000", "span_id", "0405000000000000", "trace_flags", "01")
	for _, key := range []string{"trace_id", "span_id", "trace_flags"} {
		if n := strings.Count(out.String(), `"`+key+`"`); n != 1 {
			t.Errorf("%s is told %d times: %s", key, n, out)
		}
	}
	g, _ := records(t, out)[0]["g"].(map[string]any)
	if g["k"] != "v" {
		t.Errorf("the group has lost what else it had: %s", out)
	}
}

// TestGroupsKeepTheirOrder: attributes after a group stay in it, with and without a span.
func TestGroupsKeepTheirOrder(t *testing.T) {
	logger, out := newLogger(t)
	logger = logger.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h")
	logger.InfoContext(t.Context(), "m", "c", 3)
	logger.InfoContext(spanContext(t), "m", "c", 3)
	for _, r := range records(t, out) {
		g, _ := r["g"].(map[string]any)
		h, _ := g["h"].(map[string]any)
		if r["a"] != 1.0 || g["b"] != 2.0 || h["c"] != 3.0 {
			t.Errorf("%v", r)
		}
	}
}

func TestOwnTraceIDWins(t *testing.T) {
	logger, out := newLogger(t)
	logger.InfoContext(spanContext(t), "m", "trace_id", "mine")
	logger.With("trace_id", "mine").InfoContext(spanContext(t), "m")
	logger.With("trace_id", "mine").WithGroup("g").InfoContext(spanContext(t), "m", "k", "v")
	if n := strings.Count(out.String(), `"trace_id"`); n != 3 {
		t.Errorf("%d trace ids in three records: %s", n, out)
	}
	for _, r := range records(t, out) {
		if r["trace_id"] != "mine" {
			t.Errorf("%v", r)
		}
	}
}

// TestSiblingsShareNothing derives several loggers from one at the same time.
func TestSiblingsShareNothing(t *testing.T) {
	logger, out := newLogger(t)
	base := logger.WithGroup("g").With("x", 0).With("y", 0) // an append to three may write into the fourth
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		wg.Go(func() { base.With(name, name).InfoContext(spanContext(t), name) })
	}
	wg.Wait()
	for _, r := range records(t, out) {
		g := r["g"].(map[string]any)
		if name := r["msg"].(string); len(g) != 3 || g[name] != name {
			t.Errorf("%v", r)
		}
	}
}

func TestLevelsAndNoStacks(t *testing.T) {
	logger, out := newLogger(t, zaplog.WithLevel("WARN"))
	logger.Info("no")
	logger.Warn("yes")
	logger.Error("yes", "took", 1500*time.Millisecond)
	text := out.String()
	if got := records(t, bytes.NewBufferString(text)); len(got) != 2 || got[1]["took"] != "1.5s" ||
		got[1]["level"] != "error" {
		t.Errorf("records are %v", got)
	}
	if strings.Contains(text, "goroutine") || strings.Contains(text, "zaplog_test.go") {
		t.Errorf("a stack trace: %s", text)
	}
}

func TestCaller(t *testing.T) {
	logger, out := newLogger(t, zaplog.WithCaller())
	logger.Info("m")
	if !strings.Contains(out.String(), "zaplog_test.go:") {
		t.Errorf("no caller: %s", out)
	}
}

func TestConsole(t *testing.T) {
	logger, out := newLogger(t, zaplog.WithFormat(zaplog.FormatConsole), zaplog.WithLevel("debug"))
	logger.Debug("hello", "resource", "order:\x1b[31m1\nforged")
	if text := out.String(); !strings.Contains(text, "DEBUG\thello") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

func TestInvalid(t *testing.T) {
	for name, opt := range map[string]zaplog.Option{
		"level": zaplog.WithLevel("loud"), "panic level": zaplog.WithLevel("fatal"), "no level": zaplog.WithLevel(""),
		"format": zaplog.WithFormat("xml"), "nil": nil,
	} {
		if _, _, err := zaplog.New(&bytes.Buffer{}, opt); !errors.Is(err, zaplog.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := zaplog.New(nil); !errors.Is(err, zaplog.ErrInvalidOption) {
		t.Errorf("nil writer: %v", err)
	}
}

// TestFlush: some writers can be synced, others cannot.
func TestFlush(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	for _, f := range []*os.File{file, write} {
		logger, flush, err := zaplog.New(f)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("m")
		for range 2 {
			if err := flush(); err != nil {
				t.Errorf("%s: %v", f.Name(), err)
			}
		}
	}
	if broken, flush, _ := zaplog.New(failing{}); true {
		broken.Info("m")
		if err := flush(); !errors.Is(err, errDisk) {
			t.Errorf("a real failure to sync: %v", err)
		}
	}
}

var errDisk = errors.New("disk gone")

type failing struct{}

func (failing) Write(p []byte) (int, error) { return len(p), nil }
func (failing) Sync() error                 { return errDisk }
