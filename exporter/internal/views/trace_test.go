package views_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/internal/traceevent/validate"
	"github.com/lockscope/lockscope/exporter/internal/views"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// traceHandler is the view of a source.
func traceHandler(t *testing.T, source any) http.Handler {
	t.Helper()
	for _, v := range views.Of(source) {
		if v.Name == "trace" {
			return v
		}
	}
	t.Fatal("the source has no trace")
	return nil
}

// contended is a Board on which somebody has waited for each of these resources.
func contended(t *testing.T, resources ...string) *live.Board {
	t.Helper()
	board, err := live.New()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	l, err := board.Wrap(engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range resources {
		lease, err := l.Acquire(t.Context(), resource)
		if err != nil {
			t.Fatal(err)
		}
		// It gives up once it waits: on a busy machine a short time could be over before.
		ctx, giveUp := context.WithCancel(t.Context())
		ctx = locktrace.With(ctx, &locktrace.Trace{WaitStart: func(ctx context.Context, _ locktrace.WaitStart) context.Context {
			giveUp()
			return ctx
		}})
		if _, err := l.Acquire(ctx, resource); err == nil {
			t.Fatal("two holders")
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return board
}

func get(h http.Handler, query url.Values) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/locks/trace?"+query.Encode(), nil))
	return w
}

func TestTraceIsAFile(t *testing.T) {
	const hostile = "a\"; filename=/etc/passwd; <script>'&é/..:1"
	h := traceHandler(t, contended(t, "order:1", hostile))
	for resource, want := range map[string]string{
		"":        "lockscope-trace-all.json",
		"order:1": "lockscope-trace-order_1.json",
		hostile:   "lockscope-trace-a___filename__etc_passwd___script________1.json",
	} {
		w := get(h, url.Values{"resource": {resource}})
		if w.Code != http.StatusOK {
			t.Fatalf("%q: %d: %s", resource, w.Code, w.Body)
		}
		for header, value := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Type": "application/json; charset=utf-8", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(header); got != value {
				t.Errorf("%s: %q, want %q", header, got, value)
			}
		}
		kind, params, err := mime.ParseMediaType(w.Header().Get("Content-Disposition"))
		if err != nil || kind != "attachment" || len(params) != 1 || params["filename"] != want {
			t.Errorf("%q: %q, want %q: %v", resource, w.Header().Get("Content-Disposition"), want, err)
		}
		file, errs := validate.Read(w.Body.Bytes())
		for _, err := range errs {
			t.Errorf("%q: %v", resource, err)
		}
		if len(file.Events) == 0 {
			t.Errorf("%q: no events", resource)
		}
	}
}

func TestTraceOfAnUnknownResource(t *testing.T) {
	h := traceHandler(t, contended(t, "order:1", "order:2"))
	for name, query := range map[string]url.Values{
		"resource": {"resource": {"order:3"}}, "backend": {"backend": {"other"}},
		"long": {"resource": {strings.Repeat("x", 100_000)}},
	} {
		w := get(h, query)
		var answer struct {
			Error    string
			Recorded []live.Recorded
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if w.Code != http.StatusNotFound || len(answer.Recorded) != 2 || w.Body.Len() > 4096 ||
			!strings.Contains(answer.Error, "from its first wait") || w.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: %d: %s", name, w.Code, w.Body)
		}
	}
}

func TestTraceIsReadOnly(t *testing.T) {
	h := traceHandler(t, contended(t, "order:1"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/debug/locks/trace", strings.NewReader("resource=order:1")))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/debug/locks/trace", nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Disposition") == "" {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

// broken is a source that fails before or after it has written something.
type broken struct{ text string }

func (b broken) WriteTrace(_ context.Context, w io.Writer, _, _ string) error {
	_, _ = io.WriteString(w, b.text)
	return errors.New("no more")
}

func TestTraceThatFails(t *testing.T) {
	if w := get(traceHandler(t, broken{}), nil); w.Code != http.StatusInternalServerError ||
		!strings.Contains(w.Body.String(), `"error":"no more"`) {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if w := get(traceHandler(t, broken{"{"}), nil); w.Body.String() != "{" {
		t.Errorf("something follows what was written: %s", w.Body)
	}
	if all := views.Of(struct{}{}); len(all) != 0 {
		t.Errorf("a source without methods has %q", views.Names(all))
	}
}
