package exporter

import (
	"net/http"
	"sync"

	"github.com/lockscope/lockscope/exporter/internal/page"
)

// Exporter serves what is known about locks. Its zero value is not usable: see
// New. It is safe for concurrent use.
type Exporter struct {
	mux   *http.ServeMux
	page  *page.Handler // nil if there is nothing to show
	fleet http.Handler  // nil without WithFleet
	ready *readiness

	drainOnce sync.Once
}

var _ http.Handler = (*Exporter)(nil)

// New makes an Exporter. It fails with ErrInvalidOption for a value that is not
// usable. It starts nothing.
func New(opts ...Option) (*Exporter, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	metrics, err := metricsHandler(&cfg)
	if err != nil {
		return nil, err
	}
	e := &Exporter{fleet: cfg.fleet, mux: http.NewServeMux(), page: newPage(&cfg), ready: newReadiness(&cfg)}
	e.mux.Handle("/metrics", metrics)
	e.mux.HandleFunc("/healthz", healthz)
	e.mux.HandleFunc("/readyz", e.ready.readyz)
	if e.page != nil {
		e.mux.Handle("/"+locksPath, e.page)
		e.mux.Handle("/"+locksPath+"/{$}", e.page)
	}
	if e.fleet != nil {
		e.mux.Handle("/"+fleetPath, e.fleet)
	}
	e.mux.HandleFunc("/", landing(links(e.page != nil, e.fleet != nil))) // answers 404 to any other path
	return e, nil
}

// ServeHTTP answers GET and HEAD requests to /metrics, /healthz, /readyz,
// /debug/locks, /debug/locks/fleet and the landing page. Callers who have a server of their own use
// WithOwnServer, and Drain before their server's Shutdown; package server does that
// for the others.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.Header().Set("Connection", "close") // a body may follow that nobody wants to read
		plain(w, http.StatusMethodNotAllowed, "method not allowed\n")
		return
	}
	e.mux.ServeHTTP(w, r)
}

// Mount serves /metrics, /healthz, /readyz and /debug/locks on a mux that has other things to
// serve, the landing page not included. A mux that has one of these paths already panics, as
// http.ServeMux does. See WithOwnServer.
func (e *Exporter) Mount(mux *http.ServeMux) {
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, e)
	}
	if e.page != nil {
		mux.Handle("/"+locksPath, e)
		mux.Handle("/"+locksPath+"/{$}", e)
	}
	if e.fleet != nil {
		mux.Handle("/"+fleetPath, e)
	}
}

// Listening lets /readyz depend on the checks. Package server calls it once it has
// bound every address; with WithOwnServer, and a second time, it does nothing.
func (e *Exporter) Listening() { e.ready.listening.Store(true) }

// Drain makes /readyz say no and ends the streams of /debug/locks, for which a
// server's Shutdown would wait. Package server calls it. Further calls do nothing.
func (e *Exporter) Drain() {
	e.drainOnce.Do(func() {
		close(e.ready.draining)
		if e.page != nil {
			_ = e.page.Close() // always nil
		}
	})
}
