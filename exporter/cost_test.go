//go:build !race

package exporter_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	noopTrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// observers lists the rows of the cost table in instrument's README.
var observers = []struct {
	name string
	wrap func(t testing.TB, l lock.Locker) lock.Locker
}{
	{"metrics", func(t testing.TB, l lock.Locker) lock.Locker { return measured(t, l, noopTrace.NewTracerProvider()) }},
	{"metrics, spans not sampled", func(t testing.TB,
		l lock.Locker) lock.Locker {
		return measured(t, l, sampling(sdktrace.NeverSample()))
	}},
	{"metrics, spans sampled", func(t testing.TB, l lock.Locker) lock.Locker {
		return measured(t, l, sampling(sdktrace.AlwaysSample()))
	}},
	{"board", onBoard},
	{"metrics, spans not sampled, board", func(t testing.TB, l lock.Locker) lock.Locker {
		return measured(t, onBoard(t, l), sampling(sdktrace.NeverSample()))
	}},
}

func sampling(s sdktrace.Sampler) trace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSampler(s))
}

func measured(t testing.TB, l lock.Locker, p trace.TracerProvider) lock.Locker {
	m, err := instrument.Wrap(l, instrument.WithTracerProvider(p))
	must(t, err)
	return m
}

func onBoard(t testing.TB, l lock.Locker) lock.Locker {
	b, err := live.New()
	must(t, err)
	shown, err := b.Wrap(l)
	must(t, err)
	return shown
}

func pair(t testing.TB, ctx context.Context, l lock.Locker) {
	lease, err := l.Acquire(ctx, "order:1001")
	must(t, err)
	must(t, lease.Release(ctx))
}

// costTable is the allocations of a pair in each row of the table.
func costTable(t testing.TB) map[string]int {
	text, err := os.ReadFile("../instrument/README.md")
	must(t, err)
	_, section, ok := strings.Cut(string(text), "\n## Costs\n")
	if !ok {
		t.Fatal("the README has no section Costs")
	}
	table := make(map[string]int)
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			continue
		}
		if allocs, err := strconv.Atoi(strings.TrimSpace(cells[1])); err == nil {
			table[strings.TrimSpace(cells[0])] = allocs
		}
	}
	return table
}

// onNodes is an engine on five nodes in memory, whose hooks run as in production.
func onNodes(t testing.TB) lock.Locker {
	l, err := memlock.New(memlock.NewNodes(5))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// allocsOf are those of a pair. The engine's own differ by one or two between runs.
func allocsOf(t testing.TB, l lock.Locker) float64 {
	return testing.AllocsPerRun(2000, func() { pair(t, t.Context(), l) })
}

// TestCosts compares the allocations with the table, within two. The times are those of a machine.
func TestCosts(t *testing.T) {
	table := costTable(t)
	bare := allocsOf(t, onNodes(t))
	for _, o := range observers {
		want, ok := table[o.name]
		if !ok {
			t.Errorf("no row %q", o.name)
			continue
		}
		got := allocsOf(t, o.wrap(t, onNodes(t))) - bare
		t.Logf("%s: %.1f allocations more than %.1f", o.name, got, bare)
		if math.Abs(got-float64(want)) > 2 {
			t.Errorf("%s: %.1f allocations, the table says %d", o.name, got, want)
		}
	}
	if len(table) != len(observers) {
		t.Errorf("the table has %d rows, want %d", len(table), len(observers))
	}
}

// timeRatio takes pairs on five nodes in memory, in turns with and without the observer, and compares the medians.
func timeRatio(t testing.TB, wrap func(testing.TB, lock.Locker) lock.Locker) float64 {
	lockers := [2]lock.Locker{onNodes(t), wrap(t, onNodes(t))}
	var times [2][]time.Duration
	for range 500 {
		for i, l := range lockers {
			began := time.Now()
			pair(t, context.Background(), l)
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	median := len(times[0]) / 2
	return float64(times[1][median]) / float64(times[0][median])
}

// BenchmarkCosts prints the rows of the table.
func BenchmarkCosts(b *testing.B) {
	for _, o := range observers {
		b.Run(strings.ReplaceAll(o.name, ", ", "+"), func(b *testing.B) {
			l := o.wrap(b, onNodes(b))
			for b.Loop() {
				pair(b, context.Background(), l)
			}
			b.ReportMetric(allocsOf(b, l)-allocsOf(b, onNodes(b)), "allocs-more")
			b.ReportMetric(timeRatio(b, o.wrap), fmt.Sprint("x-on-5-nodes"))
		})
	}
}
