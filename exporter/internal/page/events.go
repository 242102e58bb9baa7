package page

import (
	"errors"
	"net/http"
	"time"
)

// serveEvents sends documents until the client leaves, the source fails or the Handler is closed. A client that
// reconnects starts afresh, so events have no ids.
func (h *Handler) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events until it has 8 KB of them
	if r.Method == http.MethodHead {
		return
	}
	s, ok := h.feeds.join()
	if !ok {
		w.Header().Set("Retry-After", "10")
		h.fail(w, r, http.StatusServiceUnavailable, "too many streams: poll ?format=json")
		return
	}
	defer h.feeds.leave(s)
	out := http.NewResponseController(w)
	// A later request on this connection must not inherit a stream's deadline.
	defer func() { _ = out.SetWriteDeadline(time.Time{}) }()
	e := newEncoder(w, r)
	if err := out.Flush(); errors.Is(err, http.ErrNotSupported) {
		w.Header().Del("Content-Encoding")
		h.fail(w, r, http.StatusNotImplemented,
			"a middleware in front of this page does not support streaming: poll ?format=json")
		return
	}
	h.send(e, r, out, s)
	e.end()
}

func (h *Handler) send(e encoder, r *http.Request, out *http.ResponseController, s *stream) {
	for {
		select {
		case line, more := <-s.documents:
			if !more || h.event(e, out, line) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// event writes one document. The deadline replaces the server's WriteTimeout, which no stream would survive. An error
// setting it counts only if the connection supports deadlines.
func (h *Handler) event(e encoder, out *http.ResponseController, line []byte) error {
	err := out.SetWriteDeadline(time.Now().Add(h.writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, part := range [][]byte{[]byte("data: "), line, []byte("\n\n")} {
		if _, err := e.Write(part); err != nil {
			return err
		}
	}
	if err := e.flush(); err != nil {
		return err
	}
	return out.Flush()
}
