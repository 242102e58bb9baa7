package exporter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

const openMetrics = "Accept: application/openmetrics-text;version=1.0.0"

// locked returns a registry after one acquisition of each resource inside a sampled span.
func locked(t testing.TB, resources []string, opts ...instrument.Option) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewRegistry()
	tp := sdktrace.NewTracerProvider()
	opts = append([]instrument.Option{instrument.WithRegisterer(registry), instrument.WithTracerProvider(tp)}, opts...)
	locker, err := instrument.Wrap(locktest.NewFakes(t, 3, lock.WithNodeTimeout(2*time.Second))(t), opts...)
	must(t, err)
	for _, r := range resources {
		must(t, lock.Do(t.Context(), locker, r, func(context.Context, lock.Lease) error { return nil }))
	}
	return registry
}

func TestMetricsWithExemplars(t *testing.T) {
	e := newExporter(t, exporter.WithGatherer(locked(t, []string{"order:1"})))
	_, text := get(e, "/metrics", openMetrics)
	contains(t, text,
		"distributed_lock_wait_seconds_count{resource=\"order:*\"} 1\n",
		"distributed_lock_failures_total{resource=\"order:*\"} 0",
		"distributed_lock_exporter_build_info{", `trace_id="`, "promhttp_metric_handler_requests_in_flight 1",
		"# EOF")
	if strings.Contains(text, "go_goroutines") {
		t.Error("the runtime's metrics are added to a registry that may have them")
	}
	_, plain := get(e, "/metrics")
	if _, err := expfmtParse(plain); err != nil {
		t.Error(err)
	}
}

func expfmtParse(text string) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(text))
}

func TestMetricsWithoutGatherer(t *testing.T) {
	_, text := get(newExporter(t), "/metrics")
	contains(t, text, "go_goroutines ", "process_start_time_seconds ", "distributed_lock_exporter_build_info{")
}

// TestSameNamesInBothRegistries: the user's collector wins, and nothing fails.
func TestSameNamesInBothRegistries(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "distributed_lock_exporter_build_info", Help: "mine"},
			func() float64 { return 7 }),
		exporter.NewScanCollector(oneNode()))
	_ = promhttp.InstrumentMetricHandler(registry, http.NotFoundHandler())
	e := newExporter(t, exporter.WithGatherer(registry), exporter.WithScanner(oneNode()))
	code, text := get(e, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, text)
	}
	contains(t, text, "distributed_lock_exporter_build_info 7")
	if n := strings.Count(text, "# TYPE distributed_lock_scanner_up "); n != 1 {
		t.Errorf("%d families of one name", n)
	}
	if _, err := expfmtParse(text); err != nil {
		t.Error(err)
	}
}

// lines is a log.
type lines struct {
	sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(p)
}

func (l *lines) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

// TestOneBadCollector loses only its own metrics. The failure is logged and counted.
func TestOneBadCollector(t *testing.T) {
	registry := locked(t, []string{"order:1"})
	desc := prometheus.NewDesc("broken", "help", nil, nil)
	registry.MustRegister(collectorFunc(func(ch chan<- prometheus.Metric) {
		ch <- prometheus.NewInvalidMetric(desc, errors.New("disk on fire"))
	}))
	var log lines
	e := newExporter(t, exporter.WithGatherer(registry), exporter.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	for range 2 {
		code, text := get(e, "/metrics")
		if code != http.StatusOK {
			t.Fatalf("%d: %s", code, text)
		}
		contains(t, text, `distributed_lock_wait_seconds_count{resource="order:*"} 1`)
	}
	_, text := get(e, "/metrics")
	contains(t, text, `promhttp_metric_handler_errors_total{cause="gathering"} 2`)
	contains(t, log.text(), "metrics could not be served", "disk on fire")
}

type collectorFunc func(ch chan<- prometheus.Metric)

func (collectorFunc) Describe(chan<- *prometheus.Desc)      {}
func (f collectorFunc) Collect(ch chan<- prometheus.Metric) { f(ch) }

// TestSlowScrape answers 503 in time.
func TestSlowScrape(t *testing.T) {
	release, collected := make(chan struct{}), make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectorFunc(func(chan<- prometheus.Metric) {
		<-release
		close(collected)
	}))
	e := newExporter(t, exporter.WithGatherer(registry), exporter.WithScrapeTimeout(20*time.Millisecond))
	if code, _ := get(e, "/metrics"); code != http.StatusServiceUnavailable {
		t.Errorf("status %d", code)
	}
	close(release)
	<-collected
}

// TestHostileLabels: a label function that panics, and bytes that are not UTF-8, become readable labels in /metrics,
// and locks work.
func TestHostileLabels(t *testing.T) {
	for name, fn := range map[string]func(string) string{
		"panics":  func(string) string { panic("no") },
		"invalid": func(string) string { return "a\xff\x00\nb{\"" },
		"empty":   func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			registry := locked(t, []string{"order:1", "caf\u00e9\u200d", "a\"b\\"}, instrument.WithResourceLabel(fn))
			e := newExporter(t, exporter.WithGatherer(registry))
			for _, accept := range []string{openMetrics, "Accept: text/plain"} {
				code, text := get(e, "/metrics", accept)
				if code != http.StatusOK || !strings.Contains(text, "distributed_lock_wait_seconds_count") {
					t.Errorf("%d: %.300s", code, text)
				}
			}
			_, text := get(e, "/metrics")
			families, err := expfmtParse(text)
			must(t, err)
			var waits uint64
			for _, m := range families["distributed_lock_wait_seconds"].Metric {
				waits += m.Histogram.GetSampleCount()
			}
			if waits != 3 {
				t.Errorf("%d waits are visible, want 3", waits)
			}
			panics := families["distributed_lock_observer_panics_total"].Metric[0].Counter.GetValue()
			if (panics > 0) != (name == "panics") {
				t.Errorf("%v panics", panics)
			}
		})
	}
}

// TestNilObservers: without observers nothing is observed, and locking and serving work.
func TestNilObservers(t *testing.T) {
	registry := locked(t, []string{"order:1"}, instrument.WithLogger(nil), instrument.WithTracerProvider(nil),
		instrument.WithResourceLabel(nil))
	_, text := get(newExporter(t, exporter.WithGatherer(registry), exporter.WithLogger(nil)), "/metrics")
	contains(t, text, `distributed_lock_wait_seconds_count{resource="order:*"} 1`)
}

// BenchmarkMetrics measures one scrape with the largest number of resources.
func BenchmarkMetrics(b *testing.B) {
	resources := make([]string, instrument.DefaultMaxResources)
	for i := range resources {
		resources[i] = fmt.Sprintf("kind%c%c:1", 'a'+i/26, 'a'+i%26)
	}
	e := newExporter(b, exporter.WithGatherer(locked(b, resources)))
	for name, headers := range map[string][]string{"text": nil, "openmetrics": {openMetrics},
		"gzip": {"Accept-Encoding: gzip"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				_, text := get(e, "/metrics", headers...)
				size = len(text)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
