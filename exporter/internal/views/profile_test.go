package views

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/pprof/profile"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// waiting is a board on which one call waits for a held lock until the test ends.
func waiting(t *testing.T, opts ...live.Option) *live.Board {
	t.Helper()
	board, err := live.New(append([]live.Option{live.WithInstance("orders-1")}, opts...)...)
	must(t, err)
	engine, err := memlock.New(memlock.NewNodes(1), lock.WithInstance("orders-1"), lock.WithCallSites())
	must(t, err)
	locker, err := board.Wrap(engine)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = locker.Acquire(ctx, "order:1001")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = locker.Acquire(ctx, "order:1001")
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		must(t, engine.Close())
	})
	return board
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, ctx context.Context, board any, method, query string) *httptest.ResponseRecorder {
	t.Helper()
	view, ok := newProfile(board)
	if !ok || view.Name != "profile" {
		t.Fatal("a Board has no profile")
	}
	w := httptest.NewRecorder()
	view.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, "/debug/locks/profile"+query, nil))
	h := w.Header()
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" ||
		h.Get("Content-Security-Policy") == "" {
		t.Errorf("%s %s: headers %v", method, query, h)
	}
	return w
}

// delay reads the profile of an answer.
func delay(t *testing.T, w *httptest.ResponseRecorder) (total, covers time.Duration) {
	t.Helper()
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/octet-stream" {
		t.Fatalf("%d, %v: %s", w.Code, w.Header(), w.Body)
	}
	p, err := profile.Parse(w.Body)
	must(t, err)
	for _, s := range p.Sample {
		total += time.Duration(s.Value[1])
		if s.Label["resource"][0] != "order:1001" || s.Label["backend"][0] != "memory" {
			t.Errorf("sample %+v", s)
		}
	}
	return total, time.Duration(p.DurationNanos)
}

func TestProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := waiting(t)
		time.Sleep(10 * time.Second)
		for _, query := range []string{"", "?by=waiter", "?by=holder", "?view=x"} {
			w := ask(t, t.Context(), board, http.MethodGet, query)
			if total, covers := delay(t, w); total != 10*time.Second || covers != 10*time.Second {
				t.Errorf("%s: %v in %v", query, total, covers)
			}
		}
		for _, query := range []string{"?seconds=30", "?seconds=30&by=holder"} {
			began := time.Now()
			w := ask(t, t.Context(), board, http.MethodGet, query)
			if total, covers := delay(t, w); total != 30*time.Second || covers != total || time.Since(began) != total {
				t.Errorf("%s: %v in %v", query, total, covers)
			}
		}
		began := time.Now()
		if w := ask(t, t.Context(), board, http.MethodHead, "?seconds=30"); w.Code != http.StatusOK ||
			time.Since(began) > 0 {
			t.Errorf("HEAD: %d after %v", w.Code, time.Since(began))
		}
	})
}

// TestProfileEndsEarly when the exporter drains, with what there is, and when the client leaves.
func TestProfileEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := waiting(t)
		time.Sleep(10 * time.Second)
		ctx, drain := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { drain(ErrDraining) })
		if total, covers := delay(t, ask(t, ctx, board, http.MethodGet, "?seconds=300")); total != 5*time.Second ||
			covers != total {
			t.Errorf("%v in %v", total, covers)
		}
		left, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		began := time.Now()
		ask(t, left, board, http.MethodGet, "?seconds=300")
		if took := time.Since(began); took != time.Second {
			t.Errorf("nobody reads it any more, and it took %v", took)
		}
	})
}

type broken struct{}

func (broken) Profile(live.ProfileBy) (*live.Profile, error) { return nil, errors.New("broken") }

func TestProfileErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := waiting(t, live.WithProfileRate(0))
		for _, c := range []struct {
			source        any
			method, query string
			status        int
		}{
			{board, http.MethodGet, "?by=stack", http.StatusBadRequest},
			{board, http.MethodGet, "?seconds=0", http.StatusBadRequest},
			{board, http.MethodGet, "?seconds=-1", http.StatusBadRequest},
			{board, http.MethodGet, "?seconds=301", http.StatusBadRequest},
			{board, http.MethodGet, "?seconds=1.5", http.StatusBadRequest},
			{board, http.MethodGet, "?seconds=99999999999999999999", http.StatusBadRequest},
			{board, http.MethodPost, "", http.StatusMethodNotAllowed},
			{board, http.MethodGet, "?seconds=1", http.StatusNotFound},
			{board, http.MethodGet, "?by=holder", http.StatusOK},
			{broken{}, http.MethodGet, "", http.StatusInternalServerError},
		} {
			w := ask(t, t.Context(), c.source, c.method, c.query)
			var said struct{ Error string }
			if w.Code != c.status || c.status != http.StatusOK &&
				(json.Unmarshal(w.Body.Bytes(), &said) != nil || said.Error == "") {
				t.Errorf("%s %s: %d %s", c.method, c.query, w.Code, w.Body)
			}
		}
	})
	if _, ok := newProfile("a source without profiles"); ok {
		t.Error("it has one")
	}
}
