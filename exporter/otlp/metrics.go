package otlp

import (
	"context"
	"encoding/hex"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// NewMetricProducer brings the metrics of a registry, including exemplars, into an OpenTelemetry pipeline. A reader
// gathers them whenever it reads.
//
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(otlp.NewMetricProducer(registry)))
//
// It is OpenTelemetry's bridge, go.opentelemetry.io/contrib/bridges/prometheus, with one correction: the trace and
// span ids of exemplars are binary. The bridge passes on their hexadecimal text, which is twice as long as OTLP
// allows. It drops the exemplars of native histograms.
//
// Names are those of Prometheus unless WithOTelNames asks for others. With a nil registry the producer produces
// nothing, and a nil option is ignored. The producer is safe for concurrent use. Errors of the registry go to
// OpenTelemetry's error handler.
func NewMetricProducer(registry prometheus.Gatherer, opts ...MetricOption) metric.Producer {
	if registry == nil {
		registry = prometheus.NewRegistry() // the bridge would take the global one
	}
	p := &producer{Producer: bridge.NewMetricProducer(bridge.WithGatherer(registry))}
	for _, opt := range opts {
		if opt != nil {
			opt(p)
		}
	}
	return p
}

// MetricOption configures NewMetricProducer.
type MetricOption func(*producer)

// WithOTelNames gives the metrics of lockscope names and units by the rules of OpenTelemetry: see the package
// documentation. Labels, buckets and values stay the same, and so do other metrics.
func WithOTelNames() MetricOption { return func(p *producer) { p.rename = true } }

type producer struct {
	metric.Producer
	rename bool
}

// Produce implements metric.Producer.
func (p *producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	scopes, err := p.Producer.Produce(ctx)
	for _, scope := range scopes {
		for i := range scope.Metrics {
			repair(scope.Metrics[i].Data)
			if p.rename {
				rename(&scope.Metrics[i])
			}
		}
	}
	return scopes, err
}

// repair changes the exemplars in place, because they were made for this call.
func repair(data metricdata.Aggregation) {
	switch d := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			decodeAll(p.Exemplars)
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			decodeAll(p.Exemplars)
		}
	}
}

func decodeAll(exemplars []metricdata.Exemplar[float64]) {
	for i := range exemplars {
		e := &exemplars[i]
		e.TraceID, e.SpanID = decoded(e.TraceID, 16), decoded(e.SpanID, 8)
	}
}

// decoded returns an id that already has the right length unchanged, and drops what is not an id.
func decoded(id []byte, length int) []byte {
	if len(id) == length {
		return id
	}
	binary := make([]byte, hex.DecodedLen(len(id)))
	if n, err := hex.Decode(binary, id); err != nil || n != length {
		return nil
	}
	return binary
}
