package exporter

import (
	"context"
	"net/http"

	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/internal/views"
	"github.com/lockscope/lockscope/scanner/report"
)

const (
	locksPath = "debug/locks"
	fleetPath = locksPath + "/fleet"
)

// newPage is nil if there is nothing to show.
func newPage(cfg *config, beside []views.View) *page.Handler {
	if cfg.state == nil && cfg.scanner == nil {
		return nil
	}
	opts := []page.Option{page.WithViews(views.Names(beside)...), page.WithFleet(cfg.fleetURL)}
	if cfg.fleet != nil {
		opts = append(opts, page.WithFleet("fleet"))
	}
	if cfg.scanner != nil {
		opts = append(opts, page.WithReport(func() (report.Report, bool) {
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

// untilDrain ends the contexts of requests when draining ends, because a server's Shutdown waits for requests.
func untilDrain(draining context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(draining, func() { cancel(views.ErrDraining) })()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// newFleet is nil if no fleet is served.
func newFleet(cfg *config) http.Handler {
	if cfg.fleet == nil {
		return nil
	}
	return page.Fleet(cfg.fleet)
}
