package run

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// outcome is what there is to know of a run.
type outcome struct {
	ended        time.Time
	status       int
	waited, held time.Duration
	lost         bool
}

// metrics are those of README.md.
func (o outcome) metrics(labels prometheus.Labels) (prometheus.Gatherer, error) {
	reg := prometheus.NewRegistry()
	add := func(name, help string, value float64) {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockscope_run_" + name, Help: help, ConstLabels: labels})
		g.Set(value)
		reg.MustRegister(g)
	}
	add("last_end_timestamp_seconds", "When the last command ended, in Unix time.", float64(o.ended.UnixMilli())/1000)
	add("exit_code", "Exit status of the last command.", float64(o.status))
	add("wait_seconds", "Time that the last command waited for its lock.", o.waited.Seconds())
	add("held_seconds", "Time that the last command held its lock.", o.held.Seconds())
	lost := 0.0
	if o.lost {
		lost = 1
	}
	add("lost", "1 if the last command was ended because its lock was about to end, else 0.", lost)
	return reg, nil
}
