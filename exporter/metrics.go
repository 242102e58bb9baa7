package exporter

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// maxScrapes is how many scrapes are answered at a time: two Prometheus replicas, a bridge and a person with curl.
const maxScrapes = 8

// metricsHandler serves the caller's metrics and, from a registry of its own, those
// of the Exporter.
func metricsHandler(cfg *config) (http.Handler, error) {
	own := prometheus.NewRegistry()
	all := []prometheus.Collector{newBuildInfo()}
	if cfg.scanner != nil {
		all = append(all, NewScanCollector(cfg.scanner, cfg.scanOptions...))
	}
	if len(cfg.connections) > 0 {
		all = append(all, NewConnectionCollector(cfg.connections...))
	}
	if cfg.waits != nil {
		all = append(all, newWaitCollector(cfg.waits))
	}
	if cfg.reload != nil {
		all = append(all, newReloadCollector(cfg.reload))
	}
	if cfg.gatherer == nil {
		process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
		all = append(all, collectors.NewGoCollector(), process)
	}
	for _, c := range all {
		if err := own.Register(c); err != nil {
			return nil, fmt.Errorf("exporter: register metrics: %w", err)
		}
	}
	handler := promhttp.HandlerFor(gathererOf(cfg.gatherer, own), promhttp.HandlerOpts{
		ErrorLog:            scrapeLog{cfg.logger},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            own,
		MaxRequestsInFlight: maxScrapes,
		Timeout:             cfg.scrapeTimeout,
		EnableOpenMetrics:   true,
	})
	return promhttp.InstrumentMetricHandler(own, handler), nil
}

// gathererOf adds own's families to user's, except those that user already has. The user may serve a metric of the
// same name from another handler, and two of a name would fail every scrape.
func gathererOf(user prometheus.Gatherer, own *prometheus.Registry) prometheus.Gatherer {
	if user == nil {
		return own
	}
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := user.Gather()
		taken := make(map[string]bool, len(families))
		for _, f := range families {
			taken[f.GetName()] = true
		}
		ours, ownErr := own.Gather()
		for _, f := range ours {
			if !taken[f.GetName()] {
				families = append(families, f)
			}
		}
		slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
		return families, joinGather(err, ownErr)
	})
}

func joinGather(errs ...error) error {
	var all prometheus.MultiError
	for _, err := range errs {
		all.Append(err)
	}
	return all.MaybeUnwrap()
}

// scrapeLog logs metrics that could not be gathered. promhttp also counts them in
// promhttp_metric_handler_errors_total.
type scrapeLog struct{ *slog.Logger }

func (l scrapeLog) Println(v ...any) {
	l.Warn("metrics could not be served", "error", oneLine(fmt.Sprint(v...)))
}
