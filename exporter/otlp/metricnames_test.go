package otlp_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/outage"
)

// TestOTelNames: every metric has the documented name and unit, and the buckets and values that Prometheus sees.
func TestOTelNames(t *testing.T) { synctest.Test(t, testOTelNames) }

func testOTelNames(t *testing.T) {
	registry := usedRegistry(t)
	families, err := registry.Gather()
	must(t, err)
	renamed := make(map[string]metricdata.Metrics)
	for _, m := range collected(t, registry, otlp.WithOTelNames(), nil) {
		renamed[prometheusName(m)] = m
	}
	if len(renamed) != len(families) {
		t.Errorf("%d metrics, want %d", len(renamed), len(families))
	}
	var seen []string
	for _, f := range families {
		m, ok := renamed[f.GetName()]
		if !ok {
			t.Errorf("nothing leads back to %s", f.GetName())
			continue
		}
		if want, got := familyPoints(f), points(m.Data); !slices.Equal(want, got) {
			t.Errorf("%s:\n%v, and in Prometheus\n%v", m.Name, got, want)
		}
		if f.GetName() == "foreign_seconds" {
			if m.Name != "foreign_seconds" {
				t.Errorf("a metric of others is called %s", m.Name)
			}
			continue
		}
		seen = append(seen, strings.TrimSpace(f.GetName()+" "+m.Name+" "+m.Unit))
	}
	if told := namesTold(t); !slices.Equal(seen, told) {
		t.Errorf("produced\n%s\nand told in doc.go\n%s", strings.Join(seen, "\n"), strings.Join(told, "\n"))
	}
}

// TestPrometheusNamesStay without the option.
func TestPrometheusNamesStay(t *testing.T) { synctest.Test(t, testPrometheusNamesStay) }

func testPrometheusNamesStay(t *testing.T) {
	registry := usedRegistry(t)
	families, err := registry.Gather()
	must(t, err)
	for i, m := range collected(t, registry) {
		if m.Name != families[i].GetName() || m.Unit != "" {
			t.Errorf("%s has become %s in %q", families[i].GetName(), m.Name, m.Unit)
		}
	}
}

// clock is a node that tells its clock.
type clock struct{ driver.BlockingNode }

func (c clock) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := c.BlockingNode.Acquire(ctx, req)
	reply.ClockSkew = time.Millisecond
	return reply, err
}

// usedRegistry has every metric of a Locker, and one that is not lockscope's.
func usedRegistry(t *testing.T) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	foreign := prometheus.NewGauge(prometheus.GaugeOpts{Name: "foreign_seconds", Help: "h"})
	foreign.Set(7)
	registry.MustRegister(foreign)
	var nodes []driver.Node
	for i := range 3 {
		s := locktest.NewFakeServer(fmt.Sprint("node", i))
		t.Cleanup(s.Close)
		nodes = append(nodes, engine.Async(clock{s.Connect(uint64(i), locktest.Faults{})}))
	}
	began := time.Now()
	e, err := engine.NewEngine(nodes, engine.WithClock(func() time.Duration { return time.Since(began) })) // the bubble's
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	l, err := instrument.Wrap(e, instrument.WithRegisterer(registry))
	must(t, err)
	must(t, lock.Do(t.Context(), l, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		_, _ = l.Acquire(ctx, "order:1001", lock.NoWait())
		return lease.Extend(ctx)
	}))
	for name, kind := range map[string]lock.Kind{"billing": lock.KindElection, "pool#1": lock.KindSemaphore} {
		must(t, lock.Do(t.Context(), l, name, func(context.Context, lock.Lease) error { return nil },
			locktest.AsConstruct(kind, 2)))
	}
	l.Unprotected(t.Context(), outage.Run{Resource: "order:1001", Err: lock.ErrNoQuorum})
	synctest.Wait() // late votes count
	return registry
}

func collected(t *testing.T, registry prometheus.Gatherer, opts ...otlp.MetricOption) []metricdata.Metrics {
	reader := metric.NewManualReader(metric.WithProducer(otlp.NewMetricProducer(registry, opts...)))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { must(t, provider.Shutdown(context.Background())) }()
	var all metricdata.ResourceMetrics
	must(t, reader.Collect(t.Context(), &all))
	if len(all.ScopeMetrics) != 1 {
		t.Fatalf("%d scopes", len(all.ScopeMetrics))
	}
	return all.ScopeMetrics[0].Metrics
}

// prometheusName converts a metric's name by OpenTelemetry's compatibility rules.
func prometheusName(m metricdata.Metrics) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	switch {
	case m.Unit == "s":
		name += "_seconds"
	case m.Unit != "" && !strings.HasPrefix(m.Unit, "{"):
		name += "_" + m.Unit
	}
	if sum, ok := m.Data.(metricdata.Sum[float64]); ok && sum.IsMonotonic &&
		strings.HasPrefix(m.Name, "distributed_lock.") {
		name += "_total"
	}
	return name
}

// namesTold returns the rows of the table, by name in Prometheus.
func namesTold(t *testing.T) (rows []string) {
	text, err := os.ReadFile("doc.go")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "//\tdistributed_lock_") {
			rows = append(rows, strings.Join(strings.Fields(strings.TrimPrefix(line, "//")), " "))
		}
	}
	slices.Sort(rows)
	return rows
}

func points(data metricdata.Aggregation) (all []string) {
	switch d := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			all = append(all, fmt.Sprint(pairs(p.Attributes), p.Count, p.Sum, p.Bounds, p.BucketCounts))
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			all = append(all, fmt.Sprint(pairs(p.Attributes), p.Value))
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			all = append(all, fmt.Sprint(pairs(p.Attributes), p.Value))
		}
	default:
		all = append(all, fmt.Sprintf("%T", data))
	}
	return all
}

func pairs(set attribute.Set) (all []string) {
	for _, a := range set.ToSlice() {
		all = append(all, string(a.Key)+"="+a.Value.AsString())
	}
	return all
}

func familyPoints(f *dto.MetricFamily) (all []string) {
	for _, m := range f.Metric {
		var labels []string
		for _, l := range m.Label {
			labels = append(labels, l.GetName()+"="+l.GetValue())
		}
		switch {
		case m.Histogram != nil:
			var bounds []float64
			var counts []uint64
			before := uint64(0)
			for _, b := range m.Histogram.Bucket {
				bounds, counts = append(bounds, b.GetUpperBound()), append(counts, b.GetCumulativeCount()-before)
				before = b.GetCumulativeCount()
			}
			counts = append(counts, m.Histogram.GetSampleCount()-before)
			all = append(all, fmt.Sprint(labels, m.Histogram.GetSampleCount(), m.Histogram.GetSampleSum(), bounds,
				counts))
		case m.Counter != nil:
			all = append(all, fmt.Sprint(labels, m.Counter.GetValue()))
		default:
			all = append(all, fmt.Sprint(labels, m.Gauge.GetValue()))
		}
	}
	return all
}
