package instrument_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	noopTrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// variants are the decorators that are measured. What the SDK of OpenTelemetry adds is measured in exporter.
func variants(tb testing.TB) []struct {
	name string
	opts []instrument.Option
} {
	registered := instrument.WithRegisterer(prometheus.NewRegistry())
	return []struct {
		name string
		opts []instrument.Option
	}{
		{"metrics", []instrument.Option{registered, instrument.WithTracerProvider(noopTrace.NewTracerProvider())}},
		{"native", []instrument.Option{instrument.WithNativeHistograms(),
			instrument.WithTracerProvider(noopTrace.NewTracerProvider())}},
		{"noop-tracer", []instrument.Option{instrument.WithTracerProvider(otel.GetTracerProvider())}},
	}
}

// BenchmarkNoop measures the decorator alone: an acquire and release on a Locker that does nothing.
func BenchmarkNoop(b *testing.B) {
	bench := func(name string, l lock.Locker) {
		b.Run(name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				pair(b, ctx, l)
			}
		})
	}
	bench("bare", &noop{})
	for _, v := range variants(b) {
		bench(v.name, wrap(b, &noop{}, v.opts...))
	}
}

// BenchmarkRedis alternates between a bare and a decorated pair on real servers, each with its own Locker, and reports
// the ratio of the medians.
func BenchmarkRedis(b *testing.B) {
	for _, n := range []int{1, 3} {
		servers := addrs(locktest.Servers(b, n))
		for _, v := range variants(b) {
			b.Run(fmt.Sprintf("nodes=%d/%s", n, v.name), func(b *testing.B) {
				bare := onRedis(b, servers)
				measured := wrap(b, onRedis(b, servers), v.opts...)
				ctx := context.Background()
				times := [2][]time.Duration{}
				for i := 0; b.Loop(); i++ {
					for j := range 2 { // which one goes first alternates, too
						which := (i + j) % 2
						began := time.Now()
						if which == 0 {
							pair(b, ctx, bare)
						} else {
							pair(b, ctx, measured)
						}
						times[which] = append(times[which], time.Since(began))
					}
				}
				slices.Sort(times[0])
				slices.Sort(times[1])
				bareMedian, median := times[0][len(times[0])/2], times[1][len(times[1])/2]
				b.ReportMetric(float64(bareMedian.Nanoseconds())/1000, "bare-p50-us")
				b.ReportMetric(float64(median.Nanoseconds())/1000, "p50-us")
				b.ReportMetric(float64(median)/float64(bareMedian), "p50-x")
			})
		}
	}
}

func pair(tb testing.TB, ctx context.Context, l lock.Locker) {
	lease, err := l.Acquire(ctx, "order:1001")
	if err != nil {
		tb.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		tb.Fatal(err)
	}
}
