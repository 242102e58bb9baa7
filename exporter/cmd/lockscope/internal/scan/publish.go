package scan

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter"
)

// sendMetrics sends what a scrape of serve would show of the scanner.
func (f *scanFlags) sendMetrics(ctx context.Context, s exporter.Snapshotter) error {
	return errors.Join(f.publish.Send(ctx, nil, func(prometheus.Labels) (prometheus.Gatherer, error) {
		reg := prometheus.NewRegistry()
		return reg, reg.Register(exporter.NewScanCollector(s))
	})...)
}
