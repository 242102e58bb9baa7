package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"
	noopTrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestOutcomes(t *testing.T) {
	held := &lock.HeldError{Resource: "x"}
	for _, c := range []struct {
		name    string
		err     error
		opts    []lock.AcquireOption
		outcome string
		failed  float64
	}{
		{"success", nil, nil, "acquired", 0},
		{"miss", held, []lock.AcquireOption{lock.NoWait()}, "contended", 0},
		{"attempts spent", held, []lock.AcquireOption{lock.MaxAttempts(2)}, "contended", 1},
		{"wait spent", &lock.WaitError{Err: lock.ErrMaxWait, Last: held}, nil, "timeout", 1},
		{"deadline", context.DeadlineExceeded, nil, "timeout", 1},
		{"cancelled", context.Canceled, nil, "canceled", 1},
		{"no quorum", &lock.QuorumError{}, nil, "no_quorum", 1},
		{"bad name", lock.ErrInvalidResource, nil, "error", 1},
		{"anything else", errBoom, nil, "error", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := wrap(t, &noop{err: c.err})
			_, err := l.Acquire(t.Context(), "x", c.opts...)
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			total := 0.0
			for _, o := range []string{"acquired", "contended", "timeout", "canceled", "no_quorum", "error"} {
				total += gather(t, l, "acquisitions_total", "resource", "x", "outcome", o)
			}
			for name, want := range map[string]float64{"failures_total": c.failed, "wait_seconds": 1, "waiting": 0} {
				if got := gather(t, l, name, "resource", "x"); got != want {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
			if got := gather(t, l, "acquisitions_total", "resource", "x", "outcome", c.outcome); got != 1 ||
				total != 1 {
				t.Errorf("outcome %s counted %v times of %v", c.outcome, got, total)
			}
		})
	}
}

// TestBounded uses 100000 names: after the first 10000, memory does not grow.
func TestBounded(t *testing.T) {
	l := wrap(t, &noop{}, instrument.WithTracerProvider(noopTrace.NewTracerProvider()))
	use := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprintf("tenant%c%c%c:job", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26) + strings.Repeat("q", i/17576)
			lease, err := l.Acquire(t.Context(), name)
			must(t, err)
			must(t, lease.Release(t.Context()))
		}
	}
	count := func() (series int) {
		for _, f := range families(t, l) {
			series += len(f.Metric)
		}
		return series
	}
	use(0, 10_000)
	before, heap := count(), heapInUse()
	use(10_000, 100_000)
	if after := count(); after != before {
		t.Errorf("%d series, %d before", after, before)
	}
	if grown := int64(heapInUse()) - int64(heap); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if got := gather(t, l, "resource_overflow_total"); got != 100_000-instrument.DefaultMaxResources {
		t.Errorf("overflow is %v", got)
	}
	if got := gather(t, l, "wait_seconds", "resource", "other"); got != 100_000-instrument.DefaultMaxResources {
		t.Errorf("%v waits of other", got)
	}
	t.Logf("%d series", before)
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestLabelFunction(t *testing.T) {
	for name, c := range map[string]struct {
		label func(string) string
		want  string
	}{
		"own":           {func(string) string { return "all" }, "all"},
		"panics":        {func(string) string { panic(1) }, "order:*"},
		"empty":         {func(string) string { return "" }, "order:*"},
		"invalid UTF-8": {func(string) string { return "a\xff\xfeb" }, "a_b"},
		"long":          {func(string) string { return strings.Repeat("é", 100) }, strings.Repeat("é", 64)},
		"nil":           {nil, "order:*"},
	} {
		l := wrap(t, &noop{}, instrument.WithResourceLabel(c.label))
		_, err := l.Acquire(t.Context(), "order:1")
		must(t, err)
		if n := gather(t, l, "wait_seconds", "resource", c.want); n != 1 {
			t.Errorf("%s: no series for %q", name, c.want)
		}
	}
}

func TestExtendWithoutHooks(t *testing.T) {
	l := wrap(t, &noop{})
	lease, err := l.Acquire(t.Context(), "x")
	must(t, err)
	must(t, lease.Extend(t.Context()))
	if got := gather(t, l, "extensions_total", "resource", "x", "outcome", "ok"); got != 1 {
		t.Errorf("%v extensions", got)
	}
}

func TestNodeMetrics(t *testing.T) {
	l := used(t)
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"nodes", []string{"backend", "redis"}, 3},
		{"quorum_nodes", []string{"backend", "redis"}, 2},
		{"node_up", []string{"lock_node", "fake1", "backend", "redis"}, 1},
		{"node_duration_seconds", []string{"lock_node", "fake1", "backend", "redis", "operation", "acquire"}, 1},
		{"attempts_total", []string{"resource", "order:*"}, 1},
		{"extensions_total", []string{"resource", "order:*", "outcome", "ok"}, 1},
		{"validity_seconds", []string{"resource", "order:*"}, 1},
		{"observer_panics_total", nil, 0},
	} {
		if got := gather(t, l, c.name, c.labels...); got != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	for operation, want := range map[string]bool{"acquire": true, "release": false} {
		if got := find(t, l, "node_failures_total", "lock_node", "fake1", "backend", "redis", "operation", operation,
			"reason", "timeout") != nil; got != want {
			t.Errorf("%s: a zero before the first failure: %v, want %v", operation, got, want)
		}
	}
	if sum := find(t, l, "vote_margin").Histogram.GetSampleSum(); sum != 1 {
		t.Errorf("vote margin %v with all of three nodes", sum)
	}
}

func TestExemplars(t *testing.T) {
	for _, flags := range []trace.TraceFlags{0, trace.FlagsSampled} {
		l := wrap(t, &noop{}, instrument.WithTracerProvider(noopTrace.NewTracerProvider()))
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
			TraceFlags: flags})
		lease, err := l.Acquire(trace.ContextWithSpanContext(t.Context(), sc), "x")
		must(t, err)
		must(t, lease.Release(lease.Context()))
		for _, name := range []string{"wait_seconds", "hold_seconds"} {
			found := ""
			for _, b := range find(t, l, name, "resource", "x").Histogram.Bucket {
				for _, label := range b.GetExemplar().GetLabel() {
					found += label.GetName() + "=" + label.GetValue() + " "
				}
			}
			want := ""
			if flags.IsSampled() {
				want = "span_id=0200000000000000 trace_id=01000000000000000000000000000000 "
			}
			if len(found) != len(want) || flags.IsSampled() && !strings.Contains(found, "trace_id=01") {
				t.Errorf("%s: exemplar %q, want %q", name, found, want)
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	for name, wrapped := range map[string]func() (*instrument.Locker, error){
		"nil locker": func() (*instrument.Locker, error) { return instrument.Wrap(nil) },
		"nil option": func() (*instrument.Locker, error) { return instrument.Wrap(&noop{}, nil) },
		"negative cap": func() (*instrument.Locker,
			error) {
			return instrument.Wrap(&noop{}, instrument.WithMaxResources(-1))
		},
	} {
		if l, err := wrapped(); !errors.Is(err, instrument.ErrInvalidOption) || l != nil {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	l := wrap(t, &noop{}, instrument.WithLogger(nil), instrument.WithTracerProvider(nil),
		instrument.WithRegisterer(nil))
	must(t, lock.Do(t.Context(), l, "x", func(context.Context, lock.Lease) error { return nil }))
}

// TestNoMarginOfSmallSets: one or two nodes never have a vote to spare, so shares of rounds without one leave them out.
func TestNoMarginOfSmallSets(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 0, 3: 1} {
		synctest.Test(t, func(t *testing.T) {
			l := wrap(t, locktest.NewFakes(t, n)(t))
			must(t, lock.Do(t.Context(), l, "x", func(context.Context, lock.Lease) error { return nil }))
			time.Sleep(time.Second) // in the bubble's time, until the last node has answered
			if got := gather(t, l, "vote_margin"); got != want {
				t.Errorf("%d nodes: %v rounds, want %v", n, got, want)
			}
		})
	}
}
