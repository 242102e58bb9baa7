package exporter

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// healthz reports that the process answers. It checks nothing else, because restarting a process does not repair a
// Redis.
func healthz(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

// readiness decides whether the process should receive work.
type readiness struct {
	checks    []*check
	timeout   time.Duration
	listening atomic.Bool     // Listening was called, or the caller has a server of its own
	draining  <-chan struct{} // closed by Drain; set by New
}

func newReadiness(cfg *config) *readiness {
	r := &readiness{checks: cfg.checks, timeout: cfg.checkTimeout}
	r.listening.Store(cfg.ownServer)
	return r
}

func (r *readiness) readyz(w http.ResponseWriter, _ *http.Request) {
	failures := r.failures()
	if len(failures) == 0 {
		plain(w, http.StatusOK, "ready\n")
		return
	}
	plain(w, http.StatusServiceUnavailable, "not ready\n"+strings.Join(failures, ""))
}

// failures returns one line for each reason not to be ready.
func (r *readiness) failures() []string {
	if why := r.phase(); why != "" {
		return []string{why + "\n"}
	}
	all := make([]string, len(r.checks))
	var wg sync.WaitGroup
	for i, c := range r.checks {
		wg.Go(func() {
			if err := c.run(r.timeout); err != nil {
				all[i] = c.name + ": " + oneLine(err.Error()) + "\n"
			}
		})
	}
	wg.Wait()
	failed := all[:0]
	for _, line := range all {
		if line != "" {
			failed = append(failed, line)
		}
	}
	return failed
}

// phase says why the process itself is not ready; empty if it is.
func (r *readiness) phase() string {
	select {
	case <-r.draining:
		return "server: shutting down"
	default:
	}
	if !r.listening.Load() {
		return "server: not listening yet"
	}
	return ""
}
