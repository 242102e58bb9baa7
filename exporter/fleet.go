package exporter

import "net/http"

const fleetPath = locksPath + "/fleet"

// WithFleet serves h at /debug/locks/fleet: what one process has gathered of the pages of
// many. It gets GET and HEAD only. nil is ignored.
func WithFleet(h http.Handler) Option { return func(c *config) { c.fleet = h } }

func (e *Exporter) mountFleet() {
	if e.cfg.fleet != nil {
		e.mux.Handle("/"+fleetPath, e.cfg.fleet)
	}
}
