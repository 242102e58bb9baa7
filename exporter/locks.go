package exporter

import (
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/scanner"
)

const (
	locksPath = "debug/locks"
	fleetPath = locksPath + "/fleet"
)

// newPage is nil if there is nothing to show.
func newPage(cfg *config) *page.Handler {
	if cfg.state == nil && cfg.scanner == nil {
		return nil
	}
	var opts []page.Option
	if cfg.scanner != nil {
		opts = append(opts, page.WithReport(func() (scanner.Report, bool) {
			last := cfg.scanner.Snapshot().Last
			return last, !last.Started.IsZero()
		}))
	}
	var source page.Source
	if cfg.state != nil {
		source = cfg.state
	}
	return page.New(source, opts...)
}
