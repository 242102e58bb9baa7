package exporter

import (
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/scanner"
)

const locksPath = "debug/locks"

// mountLocks serves the page if there is something to show on it.
func (e *Exporter) mountLocks() {
	if e.cfg.state == nil && e.cfg.scanner == nil {
		return
	}
	var opts []page.Option
	if e.cfg.scanner != nil {
		opts = append(opts, page.WithReport(e.lastReport))
	}
	var source page.Source
	if e.cfg.state != nil {
		source = e.cfg.state
	}
	e.page = page.New(source, opts...)
	e.mux.Handle("/"+locksPath, e.page)
	e.mux.Handle("/"+locksPath+"/{$}", e.page)
}

func (e *Exporter) lastReport() (scanner.Report, bool) {
	last := e.cfg.scanner.Snapshot().Last
	return last, !last.Started.IsZero()
}
