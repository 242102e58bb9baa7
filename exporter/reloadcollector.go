package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reload is the result of the last attempt to reload a configuration.
type Reload struct {
	Successful  bool      // result of the last attempt; true before the first
	LastSuccess time.Time // when the configuration in use was read
}

// ReloadSource reports reloads. It must be safe for concurrent use and answer from memory.
type ReloadSource interface{ Reload() Reload }

type reloadCollector struct {
	source           ReloadSource
	success, lastOne *prometheus.Desc
}

func newReloadCollector(s ReloadSource) prometheus.Collector {
	return &reloadCollector{
		source: s,
		success: desc("config_last_reload_successful",
			"1 if the last reload of the configuration succeeded; 0 if it failed and the previous one is in use."),
		lastOne: desc("config_last_reload_success_timestamp_seconds",
			"Time when the configuration in use was read, in seconds since 1970; 0 before the first."),
	}
}

// Describe implements prometheus.Collector.
func (c *reloadCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.success
	ch <- c.lastOne
}

// Collect implements prometheus.Collector.
func (c *reloadCollector) Collect(ch chan<- prometheus.Metric) {
	r := c.source.Reload()
	ch <- prometheus.MustNewConstMetric(c.success, prometheus.GaugeValue, boolean(r.Successful))
	ch <- prometheus.MustNewConstMetric(c.lastOne, prometheus.GaugeValue, seconds(r.LastSuccess))
}
