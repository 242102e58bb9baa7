package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/scanner/report"
)

// ErrSource reports a panic of the Source, or of the function given to WithReport. It drops the panic's value, which
// may contain anything.
var ErrSource = errors.New("the data source of the page panicked")

// Source reports the state of the locks. One goroutine calls State for all streams, and each request for JSON calls
// it, so it must be safe for concurrent use. It should return what it has when ctx ends.
type Source interface {
	State(ctx context.Context) state.State
}

// Handler serves the page and its data at the addresses in the package documentation. It answers only GET and HEAD,
// and changes nothing.
type Handler struct {
	source        Source
	report        func() (report.Report, bool)
	views         []string
	fleet         string
	interval      time.Duration
	maxStreams    int
	sourceTimeout time.Duration
	writeTimeout  time.Duration
	page          Asset
	feeds         feeds
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler for source. A nil source has no locks, as in a process that only scans.
func New(source Source, opts ...Option) *Handler {
	h := &Handler{
		source:        source,
		interval:      DefaultInterval,
		maxStreams:    DefaultMaxStreams,
		sourceTimeout: DefaultSourceTimeout,
		writeTimeout:  DefaultWriteTimeout,
		page:          locksAsset(),
	}
	for _, opt := range opts {
		if opt != nil {
			opt(h)
		}
	}
	h.feeds.init(h.maxStreams, h.interval, h.document)
	return h
}

// Close ends all streams, and returns once everything that Handler started has ended. Later requests for streams get
// 503; the page and JSON go on. Further calls do nothing. http.Server.Shutdown waits for streams, so pass Close to
// its RegisterOnShutdown.
func (h *Handler) Close() error {
	h.feeds.close()
	return nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.page.Secure(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		h.fail(w, r, http.StatusMethodNotAllowed, "this page is read-only: use GET or HEAD")
		return
	}
	w.Header().Set("Vary", "Accept")
	w.Header().Add("Vary", "Accept-Encoding")
	switch format := formatOf(r, formatHTML); format {
	case formatHTML:
		h.page.Serve(w, r)
	case formatJSON:
		h.serveJSON(w, r)
	case formatEvents:
		h.serveEvents(w, r)
	default:
		h.fail(w, r, http.StatusBadRequest, "unknown format: use html, json or events")
	}
}

func (h *Handler) serveJSON(w http.ResponseWriter, r *http.Request) {
	body, err := h.document(r.Context())
	if err != nil {
		h.fail(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	h.write(w, r, http.StatusOK, append(body, '\n'))
}

// worthGzip is the length below which compression saves no packet.
const worthGzip = 1 << 10

// fail answers with an error that programs can read, too.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	body, _ := json.Marshal(map[string]string{"error": text})
	h.write(w, r, status, append(body, '\n'))
}

func (h *Handler) write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if acceptsGzip(r) && len(body) > worthGzip {
		compressed(w, status, body)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // net/http drops it for HEAD; an error means that the client has left
}

// document asks the source and returns one line of JSON.
func (h *Handler) document(ctx context.Context) (line []byte, err error) {
	defer func() {
		if recover() != nil {
			err = ErrSource
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, h.sourceTimeout)
	defer cancel()
	d := document{State: state.State{At: time.Now()}, Views: orEmpty(h.views), Fleet: h.fleet}
	if h.source != nil {
		d.State = h.source.State(ctx)
	}
	d.State = listed(d.State)
	if h.report != nil {
		d.Scan = scanOf(h.report())
	}
	line, err = json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the state as JSON: %w", err)
	}
	return bytes.TrimSpace(line), nil
}

// Fleet serves the page of all processes, which asks for its data at its own address. Browsers get the page, everybody
// else gets what data answers: the JSON of package fleet.
func Fleet(data http.Handler) http.Handler {
	page := fleetAsset()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.Secure(w.Header())
		w.Header().Set("Vary", "Accept")
		if formatOf(r, formatJSON) == formatHTML {
			page.Serve(w, r)
			return
		}
		data.ServeHTTP(w, r)
	})
}
