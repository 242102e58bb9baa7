package page_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live/state"
)

func TestGzip(t *testing.T) {
	h := page.New(livetest.Incident(t.Context(), t))
	want := body(t, ask(h, http.MethodGet, "/?format=json", ""))
	for accept, zipped := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "*": true, "gzip;q=0": false,
		"br": false, "": false} {
		r := httptest.NewRequest(http.MethodGet, "/?format=json", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("Accept-Encoding %q: compressed: %v", accept, got)
		}
		var text io.Reader = w.Body
		if zipped {
			z, err := gzip.NewReader(w.Body)
			must(t, err)
			text = z
		}
		var got state.State
		must(t, json.NewDecoder(text).Decode(&got))
		if got.Totals.Waiting != 1023 || !strings.Contains(want, `"waiting":1023`) {
			t.Errorf("Accept-Encoding %q: %+v", accept, got.Totals)
		}
	}
	if vary := ask(h, http.MethodGet, "/?format=json", "").Header.Values("Vary"); strings.Join(vary,
		" ") != "Accept Accept-Encoding" {
		t.Errorf("Vary is %q", vary)
	}
}

// counted is a client that counts the bytes it receives, and reads them.
type counted struct {
	sync.Mutex
	bytes.Buffer
	header http.Header
	events chan struct{} // receives one for each flush
}

func (c *counted) Header() http.Header { return c.header }
func (c *counted) WriteHeader(int)     {}
func (c *counted) Flush()              { c.events <- struct{}{} }

// TestGzipStream: each event arrives when it is sent. The log shows what compression saves.
func TestGzipStream(t *testing.T) {
	h := page.New(livetest.Incident(t.Context(), t), page.WithInterval(1))
	defer func() { must(t, h.Close()) }()
	size := make(map[string]int)
	for _, encoding := range []string{"gzip", "identity"} {
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/?format=events", nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := &counted{header: make(http.Header), events: make(chan struct{})}
		done := make(chan struct{})
		go func() { defer close(done); h.ServeHTTP(w, r) }()
		const events = 20
		for range 1 + events { // the first flush is of the headers
			<-w.events
		}
		cancel()
		for over := false; !over; {
			select {
			case <-w.events:
			case <-done:
				over = true
			}
		}
		size[encoding] = w.Len() / events
		var text io.Reader = &w.Buffer
		if encoding == "gzip" {
			z, err := gzip.NewReader(&w.Buffer)
			must(t, err)
			text = z
		}
		line, err := bufio.NewReader(text).ReadBytes('\n')
		must(t, err)
		if !json.Valid(line[len("data: "):]) {
			t.Errorf("%s: not a document: %.200s", encoding, line)
		}
	}
	t.Logf("bytes a document: %v", size)
	if size["gzip"]*8 > size["identity"] {
		t.Errorf("a document takes %d bytes compressed, %d otherwise", size["gzip"], size["identity"])
	}
}
