package otlp_test

import (
	"encoding/hex"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/lockscope/lockscope/exporter/otlp"
)

// TestExemplarIDs: every kind of metric has exemplars with the ids of the trace, in binary.
func TestExemplarIDs(t *testing.T) {
	const traceID, spanID = "0102030405060708090a0b0c0d0e0f10", "1112131415161718"
	labels := prometheus.Labels{"trace_id": traceID, "span_id": spanID}
	registry := prometheus.NewRegistry()
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "classic", Help: "h", Buckets: []float64{1}})
	native := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "native", Help: "h",
		NativeHistogramBucketFactor: 1.1})
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "counter_total", Help: "h"})
	strange := prometheus.NewCounter(prometheus.CounterOpts{Name: "strange_total", Help: "h"})
	registry.MustRegister(classic, native, counter, strange)
	classic.(prometheus.ExemplarObserver).ObserveWithExemplar(0.5, labels)
	native.(prometheus.ExemplarObserver).ObserveWithExemplar(0.5, labels)
	counter.(prometheus.ExemplarAdder).AddWithExemplar(1, labels)
	strange.(prometheus.ExemplarAdder).AddWithExemplar(1, prometheus.Labels{"trace_id": "none", "span_id": "zz"})

	seen := 0
	for name, exemplars := range produced(t, registry) {
		for _, e := range exemplars {
			seen++
			wantTrace, wantSpan := traceID, spanID
			if name == "strange_total" {
				wantTrace, wantSpan = "", ""
			}
			if hex.EncodeToString(e.TraceID) != wantTrace || hex.EncodeToString(e.SpanID) != wantSpan {
				t.Errorf("%s: trace %x, span %x", name, e.TraceID, e.SpanID)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d exemplars, want 3: the bridge drops those of native histograms", seen)
	}
}

func produced(t *testing.T, registry prometheus.Gatherer) map[string][]metricdata.Exemplar[float64] {
	reader := metric.NewManualReader(metric.WithProducer(otlp.NewMetricProducer(registry)))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { must(t, provider.Shutdown(t.Context())) }()
	var all metricdata.ResourceMetrics
	must(t, reader.Collect(t.Context(), &all))
	found := make(map[string][]metricdata.Exemplar[float64])
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				found[m.Name] = d.DataPoints[0].Exemplars
			case metricdata.ExponentialHistogram[float64]:
				found[m.Name] = d.DataPoints[0].Exemplars
			case metricdata.Sum[float64]:
				found[m.Name] = d.DataPoints[0].Exemplars
			}
		}
	}
	return found
}

func TestNoRegistry(t *testing.T) {
	if all := produced(t, nil); len(all) != 0 {
		t.Errorf("metrics of no registry: %v", all)
	}
}
