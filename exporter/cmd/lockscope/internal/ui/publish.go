package ui

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// Publish says where a command that ends sends its metrics.
type Publish struct {
	textfile, url, job string

	gateway *gateway // nil: none
}

// Register adds the flags under a heading. what is whose metrics they are, job the default of the flag of that name.
func (p *Publish) Register(set *pflag.FlagSet, heading, what, job string) {
	set.StringVar(&p.textfile, "textfile", "", "write "+what+" to this `file`, for node_exporter")
	set.StringVar(&p.url, "pushgateway", "", "push "+what+" to this Pushgateway `URL` (http://host:9091)")
	set.StringVar(&p.job, "pushgateway-job", job, "`job` of the pushed metrics")
	Group(set, heading, "textfile", "pushgateway", "pushgateway-job")
}

// Validate reads the URL. It connects to nothing.
func (p *Publish) Validate() (err error) {
	if p.url != "" {
		p.gateway, err = parseGateway(p.url, p.job)
	}
	return err
}

// Send writes and pushes what the flags ask for, in ten seconds at most. The labels are those of all metrics: in a file
// each metric has them, on a gateway they name what is replaced.
func (p *Publish) Send(ctx context.Context, labels prometheus.Labels,
	metrics func(prometheus.Labels) (prometheus.Gatherer, error)) (errs []error) {
	add := func(flag string, labels prometheus.Labels, send func(prometheus.Gatherer) error) {
		g, err := metrics(labels)
		if err == nil {
			err = send(g)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s%w", flag, err))
		}
	}
	if p.textfile != "" {
		add("textfile: ", labels, func(g prometheus.Gatherer) error { return writeTextfile(p.textfile, g) })
	}
	if p.gateway != nil {
		add("pushgateway "+p.gateway.shown+": ", nil, func(g prometheus.Gatherer) error {
			return p.gateway.push(context.WithoutCancel(ctx), g, labels)
		})
	}
	return errs
}
