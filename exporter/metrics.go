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

// metricsHandler serves the caller's metrics and, from a registry of its own, those
// of the Exporter.
func (e *Exporter) metricsHandler() (http.Handler, error) {
	own := prometheus.NewRegistry()
	all := []prometheus.Collector{newBuildInfo()}
	if e.cfg.scanner != nil {
		all = append(all, NewScanCollector(e.cfg.scanner, e.cfg.scanOptions...))
	}
	if len(e.cfg.connections) > 0 {
		all = append(all, NewConnectionCollector(e.cfg.connections...))
	}
	if e.cfg.waits != nil {
		all = append(all, NewWaitCollector(e.cfg.waits))
	}
	if e.cfg.reload != nil {
		all = append(all, NewReloadCollector(e.cfg.reload))
	}
	if e.cfg.gatherer == nil {
		all = append(all, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	for _, c := range all {
		if err := own.Register(c); err != nil {
			return nil, fmt.Errorf("exporter: register metrics: %w", err)
		}
	}
	return promhttp.InstrumentMetricHandler(own, promhttp.HandlerFor(gathererOf(e.cfg.gatherer, own), promhttp.HandlerOpts{
		ErrorLog:            scrapeLog{e.cfg.logger},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            own,
		MaxRequestsInFlight: maxScrapes,
		Timeout:             e.cfg.scrapeTimeout,
		EnableOpenMetrics:   true,
	})), nil
}

// gathererOf adds own's families to user's, except those that user has too: the
// user may serve a metric under the same name from a handler beside this one, and
// two of a name would fail every scrape.
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

// scrapeLog tells of what could not be gathered; promhttp counts it beside in
// promhttp_metric_handler_errors_total.
type scrapeLog struct{ *slog.Logger }

func (l scrapeLog) Println(v ...any) {
	l.Warn("metrics could not be served", "error", oneLine(fmt.Sprint(v...)))
}
