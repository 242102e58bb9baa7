package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "distributed_lock"

// Bounds of native histograms: without them a client of the lock could make them
// grow without limit.
const (
	nativeFactor     = 1.1
	nativeMaxBuckets = 100
	nativeMinReset   = time.Hour
)

// builder makes metrics and remembers them in order.
type builder struct {
	native bool
	more   []string // labels that follow resource
	all    []prometheus.Collector
	// perResource are those whose first label is resource.
	perResource []vec
}

// vec is a metric with labels.
type vec interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

func (b *builder) add(v vec, labels []string) {
	b.all = append(b.all, v)
	if labels[0] == "resource" {
		b.perResource = append(b.perResource, v)
	}
}

// with adds the labels of WithLabels after the label resource.
func (b *builder) with(labels []string) []string {
	if labels[0] != "resource" {
		return labels
	}
	return slices.Insert(labels, 1, b.more...)
}

func (b *builder) histogramOpts(name, help string, buckets []float64) prometheus.HistogramOpts {
	o := prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
	if strings.HasSuffix(name, "_seconds") {
		o.Unit = "seconds" // a line of its own in OpenMetrics
	}
	if b.native {
		o.NativeHistogramBucketFactor = nativeFactor
		o.NativeHistogramMaxBucketNumber = nativeMaxBuckets
		o.NativeHistogramMinResetDuration = nativeMinReset
	}
	return o
}

func (b *builder) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(b.histogramOpts(name, help, buckets), b.with(labels))
	b.add(v, labels)
	return v
}

func (b *builder) plainHistogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(b.histogramOpts(name, help, buckets))
	b.all = append(b.all, h)
	return h
}

func (b *builder) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, b.with(labels))
	b.add(v, labels)
	return v
}

func (b *builder) plainCounter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	b.all = append(b.all, c)
	return c
}

func (b *builder) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, b.with(labels))
	b.add(v, labels)
	return v
}
