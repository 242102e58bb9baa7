package exporter

import (
	"context"
	"net/http"

	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/internal/views"
)

// Exporter serves what a process knows about its locks. Its zero value is not usable: see New. It is safe for
// concurrent use.
type Exporter struct {
	mux    *http.ServeMux
	routes []route       // all but the landing page
	page   *page.Handler // nil without WithState and WithScanner
	ready  *readiness

	draining context.Context // ended by Drain
	drain    context.CancelFunc
}

var _ http.Handler = (*Exporter)(nil)

// route is an address and what answers there.
type route struct {
	pattern string
	http.Handler
}

// New makes an Exporter. It returns ErrInvalidOption for an unusable value. It starts nothing.
func New(opts ...Option) (*Exporter, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	metrics, err := metricsHandler(&cfg)
	if err != nil {
		return nil, err
	}
	beside := views.Of(cfg.state)
	e := &Exporter{mux: http.NewServeMux(), page: newPage(&cfg, beside), ready: newReadiness(&cfg)}
	e.draining, e.drain = context.WithCancel(context.Background())
	e.ready.draining = e.draining.Done()
	e.routes = []route{
		{"/metrics", metrics}, {"/healthz", http.HandlerFunc(healthz)}, {"/readyz", http.HandlerFunc(e.ready.readyz)},
	}
	if e.page != nil {
		e.routes = append(e.routes, route{"/" + locksPath, e.page}, route{"/" + locksPath + "/{$}", e.page})
	}
	for _, v := range beside {
		e.routes = append(e.routes, route{"/" + locksPath + "/" + v.Name, untilDrain(e.draining, v)})
	}
	if fleet := newFleet(&cfg); fleet != nil {
		e.routes = append(e.routes, route{"/" + fleetPath, fleet})
	}
	for _, r := range e.routes {
		e.mux.Handle(r.pattern, r.Handler)
	}
	e.mux.HandleFunc("/", landing(links(e.page != nil, cfg.fleet != nil))) // answers 404 to any other path
	return e, nil
}

// ServeHTTP answers GET and HEAD requests to /metrics, /healthz, /readyz, /debug/locks and what is below it, and the
// landing page. No request changes a lock or a server, and every answer forbids scripts, frames and referrers, but for
// the pages' own scripts.
//
// If you have your own server, use WithOwnServer, and call Drain before your server's Shutdown. Package server does
// both for you.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page.SecureData(w.Header()) // pages allow their own script instead
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.Header().Set("Connection", "close") // an unread body may follow
		plain(w, http.StatusMethodNotAllowed, "method not allowed\n")
		return
	}
	e.mux.ServeHTTP(w, r)
}

// Mount adds /metrics, /healthz, /readyz, /debug/locks and what is below it to a mux, without the landing page. Like
// http.ServeMux, it panics if the mux already has one of these paths. See WithOwnServer.
func (e *Exporter) Mount(mux *http.ServeMux) {
	for _, r := range e.routes {
		mux.Handle(r.pattern, e)
	}
}

// Listening makes /readyz depend on the checks. Package server calls it once every address is bound. With
// WithOwnServer, and on a second call, it does nothing.
func (e *Exporter) Listening() { e.ready.listening.Store(true) }

// Drain makes /readyz answer 503. It ends the streams of /debug/locks and the profiles of the seconds to come, for
// which a server's Shutdown would wait. Package server calls it. Further calls do nothing.
func (e *Exporter) Drain() {
	e.drain()
	if e.page != nil {
		_ = e.page.Close() // always nil
	}
}
