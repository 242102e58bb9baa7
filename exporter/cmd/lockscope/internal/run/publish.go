package run

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/pushgateway"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/textfile"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const defaultJob = "lockscope_run"

// publishFlags say where the metrics of a run go.
type publishFlags struct{ textfile, gateway, job string }

func (p *publishFlags) register(set *pflag.FlagSet) {
	set.StringVar(&p.textfile, "textfile", "", "write metrics of each command to this `file`, for node_exporter")
	set.StringVar(&p.gateway, "pushgateway", "",
		"push metrics of each command to this Pushgateway `URL` (http://host:9091)")
	set.StringVar(&p.job, "pushgateway-job", defaultJob, "`job` of the pushed metrics")
	ui.Group(set, "Metrics", "textfile", "pushgateway", "pushgateway-job")
}

func (p *publishFlags) parse(resource string) (*publisher, error) {
	all := &publisher{textfile: p.textfile, resource: resource}
	if p.gateway == "" {
		return all, nil
	}
	g, err := pushgateway.Parse(p.gateway, p.job)
	all.gateway = g
	return all, err
}

// publisher writes the metrics of a run.
type publisher struct {
	textfile, resource string
	gateway            *pushgateway.Gateway // nil: none
}

// outcome is what there is to know of a run.
type outcome struct {
	ended        time.Time
	status       int
	waited, held time.Duration
	lost         bool
}

// publish writes all that is asked for. Its errors change nothing.
func (p *publisher) publish(o outcome) (errs []error) {
	if p.textfile != "" {
		if err := textfile.Write(p.textfile, o.metrics(prometheus.Labels{"resource": p.resource})); err != nil {
			errs = append(errs, err)
		}
	}
	if p.gateway != nil {
		if err := p.gateway.Push(context.Background(), o.metrics(nil), "resource", p.resource); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// metrics are those of README.md.
func (o outcome) metrics(labels prometheus.Labels) prometheus.Gatherer {
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
	return reg
}
