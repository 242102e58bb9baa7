package exporter_test

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// A bridge gathers metrics from the registry into an OpenTelemetry pipeline, with their names, units and exemplars. A
// program uses a periodic reader with an OTLP exporter instead of this manual reader.
func Example_openTelemetryMetrics() {
	ctx := context.Background()
	registry := prometheus.NewRegistry()
	spans := sdktrace.NewTracerProvider()
	server := locktest.NewFakeServer("redis-1") // a real program: redlock.Open
	defer server.Close()
	redlock, err := engine.NewEngine([]driver.Node{engine.Async(server.Connect(1, locktest.Faults{}))})
	if err != nil {
		panic(err)
	}
	defer redlock.Close()
	locker, err := instrument.Wrap(redlock, instrument.WithRegisterer(registry), instrument.WithTracerProvider(spans))
	if err != nil {
		panic(err)
	}

	reader := metric.NewManualReader(metric.WithProducer(otlp.NewMetricProducer(registry)))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(ctx)

	_ = lock.Do(ctx, locker, "order:1001", func(context.Context, lock.Lease) error { return nil })

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		panic(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if wait, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "distributed_lock_wait_seconds" {
			point := wait.DataPoints[0]
			resource, _ := point.Attributes.Value("resource")
			fmt.Println(m.Name, resource.AsString(), "count", point.Count, "buckets", point.Bounds)
			id := trace.TraceID(point.Exemplars[0].TraceID)
			fmt.Println("exemplars:", len(point.Exemplars), "with a trace:", id.IsValid())
		}
	}
	// Output:
	// distributed_lock_wait_seconds order:* count 1 buckets [0.001 0.005 0.01 0.05 0.1 0.5 1 5]
	// exemplars: 1 with a trace: true
}
