package scan

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/textfile"
)

const defaultJob = "lockscope_scan"

// scanRegistry holds what a scrape of serve would show of the scanner.
func scanRegistry(s exporter.Snapshotter) (*prometheus.Registry, error) {
	reg := prometheus.NewRegistry()
	return reg, reg.Register(exporter.NewScanCollector(s))
}

// writeTextfile replaces path by the metrics of s.
func writeTextfile(path string, s exporter.Snapshotter) error {
	reg, err := scanRegistry(s)
	if err != nil {
		return fmt.Errorf("--textfile: %w", err)
	}
	return textfile.Write(path, reg)
}

// push replaces what the gateway holds of its job.
func (p *plan) push(ctx context.Context) error {
	reg, err := scanRegistry(p.groups)
	if err != nil {
		return fmt.Errorf("--pushgateway: %w", err)
	}
	return p.gateway.Push(ctx, reg)
}
