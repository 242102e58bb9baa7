package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// watcher is a client of a stream without a network.
type watcher struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	header http.Header
	status int
	text   strings.Builder
}

func watch(h http.Handler) *watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{cancel: cancel, done: make(chan struct{}), header: make(http.Header)}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/?format=events", nil)
	go func() {
		defer close(w.done)
		h.ServeHTTP(w, r)
	}()
	return w
}

func (w *watcher) Header() http.Header { return w.header }
func (w *watcher) Flush()              {}
func (w *watcher) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *watcher) events() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.SplitAfter(strings.TrimSuffix(w.text.String(), "\n\n"), "\n\n")
}

// ended waits up to a minute, by the clock of a synctest bubble, for the stream to end.
func (w *watcher) ended(t *testing.T) {
	t.Helper()
	select {
	case <-w.done:
	case <-time.After(time.Minute):
		w.end()
		t.Error("the stream goes on")
	}
}

func (w *watcher) end() {
	w.cancel()
	<-w.done
}

func TestStreamsShareTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := livetest.Fixed(livetest.Idle())
		h := page.New(src)
		var all []*watcher
		for range page.DefaultMaxStreams {
			all = append(all, watch(h))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := src.Called(); n != 11 {
			t.Errorf("16 streams made %d calls in ten seconds, want 11", n)
		}
		for _, w := range all {
			if n := len(w.events()); n != 11 {
				t.Errorf("a stream had %d events, want 11: the last known at once, then one a second", n)
			}
			w.end()
		}
		synctest.Wait()
		calls := src.Called()
		time.Sleep(time.Minute)
		if n := src.Called() - calls; n != 0 {
			t.Errorf("%d calls while nobody looked", n)
		}
		late := watch(h) // a new feed
		synctest.Wait()
		if n := len(late.events()); n != 1 || src.Called() != calls+1 {
			t.Errorf("who comes back gets %d events", n)
		}
		late.end()
		must(t, h.Close())
	})
}

func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := page.New(livetest.Fixed(livetest.Idle()), page.WithMaxStreams(2))
		one, two := watch(h), watch(h)
		synctest.Wait()
		three := watch(h)
		three.ended(t)
		if three.status != http.StatusServiceUnavailable || !strings.Contains(three.text.String(), "format=json") ||
			three.header.Get("Retry-After") == "" {
			t.Errorf("one too many: %d %s", three.status, three.text.String())
		}
		one.end()
		four := watch(h)
		synctest.Wait()
		if n := len(four.events()); n != 1 || four.status != 0 {
			t.Errorf("the place of one that left was not given on: %d", four.status)
		}
		two.end()
		four.end()
		must(t, h.Close())
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := page.New(livetest.Fixed(livetest.Idle()))
		w := watch(h)
		synctest.Wait()
		must(t, h.Close())
		w.ended(t)
		must(t, h.Close())
		after := watch(h)
		after.ended(t)
		if after.status != http.StatusServiceUnavailable {
			t.Errorf("a stream after Close: %d", after.status)
		}
		if r := ask(h, http.MethodGet, "/?format=json", ""); r.StatusCode != http.StatusOK {
			t.Errorf("JSON after Close: %d", r.StatusCode)
		}
	})
}

// stuck is a Source that answers when its context ends.
type stuck struct{}

func (stuck) State(ctx context.Context) state.State {
	<-ctx.Done()
	return livetest.Idle()
}

func TestStreamEndsWhileSourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := page.New(stuck{})
		left, closed := watch(h), watch(h)
		synctest.Wait()
		start := time.Now()
		left.end()
		must(t, h.Close())
		closed.ended(t)
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v to stop", took)
		}
	})
}

// TestShutdown shows how a server must be wired.
func TestShutdown(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()), page.WithInterval(10*time.Millisecond))
	server := &http.Server{Handler: h, ReadHeaderTimeout: patience, WriteTimeout: 50 * time.Millisecond}
	server.RegisterOnShutdown(func() { _ = h.Close() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()

	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + listener.Addr().String() + "/?format=events")
	must(t, err)
	defer func() { must(t, response.Body.Close()) }()
	if got := response.Header.Get("Content-Type") +
		response.Header.Get("Cache-Control"); got != "text/event-stream; charset=utf-8no-store" {
		t.Errorf("headers: %s", got)
	}
	lines, begun := bufio.NewReader(response.Body), time.Now()
	for n := 0; n < 20 || time.Since(begun) < 200*time.Millisecond; n++ { // longer than WriteTimeout
		line, err := lines.ReadBytes('\n')
		must(t, err)
		if len(line) > 1 && !json.Valid(line[len("data: "):]) {
			t.Fatalf("not a document: %s", line)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, server.Shutdown(ctx))
	<-done
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Errorf("the stream did not end as it should: %v", err)
	}
}

// TestStuckClient does not read the stream that it asked for.
func TestStuckClient(t *testing.T) {
	big := livetest.Idle()
	big.Instance = strings.Repeat("x", 4<<20)
	h := page.New(livetest.Fixed(big), page.WithInterval(time.Millisecond), page.WithMaxStreams(1),
		page.WithWriteTimeout(100*time.Millisecond))
	server := httptest.NewServer(h)
	defer server.Close()
	defer func() { must(t, h.Close()) }()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	_, err = io.WriteString(conn, "GET /?format=events HTTP/1.1\r\nHost: page\r\n\r\n")
	must(t, err)
	_, err = bufio.NewReaderSize(conn, 16).ReadByte()
	must(t, err)
	eventually(t, "the place is free again", func() bool {
		w := watch(h)
		defer w.end()
		eventually(t, "an answer", func() bool { return w.events()[0] != "" })
		return strings.HasPrefix(w.events()[0], "data: ")
	})
}

// noFlush is a middleware's writer that hides Flush.
type noFlush struct{ http.ResponseWriter }

func TestMiddlewareWithoutFlush(t *testing.T) {
	h := page.New(livetest.Fixed(livetest.Idle()))
	w := httptest.NewRecorder()
	h.ServeHTTP(noFlush{w}, httptest.NewRequest(http.MethodGet, "/?format=events", nil))
	if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "format=json") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	must(t, h.Close())
}
