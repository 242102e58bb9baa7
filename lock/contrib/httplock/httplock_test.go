package httplock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/httplock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const patience = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// processes are the Lockers of n processes on the same nodes.
func processes(t *testing.T, n int) (all []*memlock.Locker) {
	nodes := memlock.NewNodes(3)
	for range n {
		l, err := memlock.New(nodes)
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		all = append(all, l)
	}
	return all
}

func order(r *http.Request) string { return r.URL.Query().Get("order") }

func get(ctx context.Context, h http.Handler, target string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, target, nil))
	return w.Result()
}

func TestOneRequestAtATime(t *testing.T) {
	l := processes(t, 2)
	serving, end, fence := make(chan struct{}), make(chan struct{}), uint64(0)
	slow := httplock.Handler(l[0], order, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if held := lock.HeldLeases(r.Context()); len(held) == 1 {
			fence = held[0].Fence
		}
		close(serving)
		<-end
		w.WriteHeader(http.StatusAccepted)
	}))
	first := make(chan int, 1)
	go func() { first <- get(t.Context(), slow, "/?order=o:1").StatusCode }()
	<-serving
	fast := httplock.Handler(l[1], order, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
	}))
	refused := get(t.Context(), fast, "/?order=o:1")
	if after := refused.Header.Get("Retry-After"); refused.StatusCode != http.StatusConflict || after != "10" {
		t.Errorf("%d, Retry-After %q", refused.StatusCode, after)
	}
	for target, want := range map[string]int{
		"/?order=o:2": http.StatusOK, "/": http.StatusOK, "/?order=%7B": http.StatusBadRequest,
	} {
		if got := get(t.Context(), fast, target); got.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, got.StatusCode, want)
		}
	}
	waits := httplock.Handler(l[1], order, http.NotFoundHandler(), lock.MaxWait(patience))
	second := make(chan int, 1)
	go func() { second <- get(t.Context(), waits, "/?order=o:1").StatusCode }()
	close(end)
	if a, b := <-first, <-second; a != http.StatusAccepted || b != http.StatusNotFound || fence == 0 {
		t.Errorf("%d, %d, fence %d", a, b, fence)
	}
}

// TestNoQuorum: no request is served, and the client may try again.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		never := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was served") })
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			got := get(t.Context(), httplock.Handler(l, order, never, opt), "/?order=o:1")
			if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
				t.Errorf("%d, %v", got.StatusCode, got.Header)
			}
		}
	})
}

// refusing is a Locker whose driver cannot do what the options ask for.
type refusing struct{ lock.Locker }

func (refusing) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	return nil, fmt.Errorf("%w: this driver cannot keep a resource", errors.ErrUnsupported)
}

// TestTheDriverRefusesTheOptions: the client need not try again.
func TestTheDriverRefusesTheOptions(t *testing.T) {
	h := httplock.Handler(refusing{}, order, http.NotFoundHandler(), lock.MinHold(time.Minute))
	got := get(t.Context(), h, "/?order=o:1")
	if got.StatusCode != http.StatusBadRequest || got.Header.Get("Retry-After") != "" {
		t.Errorf("%d, %v", got.StatusCode, got.Header)
	}
}

// TestTheClientGoesAway: the handler's context ends, and it keeps the lock until it returns. A lock that hangs on the request's
// context is another process's after a while.
func TestTheClientGoesAway(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(lock.Locker, http.Handler) http.Handler
		free bool
	}{
		"this package's": {func(l lock.Locker, h http.Handler) http.Handler { return httplock.Handler(l, order, h) }, false},
		"one that hangs on the request's context (bad)": {func(l lock.Locker, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = lock.Do(r.Context(), l, order(r), func(ctx context.Context, _ lock.Lease) error {
					h.ServeHTTP(w, r.WithContext(ctx))
					return nil
				})
			})
		}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := processes(t, 2)
			ctx, leave := context.WithCancelCause(t.Context())
			gone, served := errors.New("gone"), false
			get(ctx, c.wrap(l[0], http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				served = true
				leave(gone)
				<-r.Context().Done()
				if cause := context.Cause(r.Context()); !errors.Is(cause, gone) {
					t.Errorf("%s: told %v", name, cause)
				}
				err := lock.Do(t.Context(), l[1], "o:1", nothing, lock.MaxWait(patience))
				if c.free != (err == nil) {
					t.Errorf("%s: another process: %v", name, err)
				}
			})), "/?order=o:1")
			if !served {
				t.Errorf("%s: it was not served", name)
			}
			must(t, lock.Do(t.Context(), l[1], "o:1", nothing, lock.NoWait()))
		})
	}
}

func nothing(context.Context, lock.Lease) error { return nil }

// TestLossAndPanic: a lost lease ends the handler's context, and a panic leaves nothing held.
func TestLossAndPanic(t *testing.T) {
	l := processes(t, 1)
	get(t.Context(), httplock.Handler(l[0], order, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l[0].Lose("o:1")
		<-r.Context().Done()
		if cause := context.Cause(r.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("told %v", cause)
		}
	})), "/?order=o:1")
	func() {
		defer func() { _ = recover() }()
		get(t.Context(), httplock.Handler(l[0], order, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic("broken")
		})), "/?order=o:2")
	}()
	must(t, lock.Do(t.Context(), l[0], "o:2", nothing, lock.NoWait()))
}

func ExampleHandler() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	var charge http.Handler
	charge = httplock.Handler(locker, func(r *http.Request) string { return "order:" + r.PathValue("id") },
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			again := httptest.NewRecorder() // a second request for the order meanwhile
			if lock.HeldLeases(r.Context())[0].Resource == "order:1001" && r.URL.RawQuery == "" {
				second := httptest.NewRequest(http.MethodPost, "/?second", nil)
				second.SetPathValue("id", r.PathValue("id"))
				charge.ServeHTTP(again, second)
				fmt.Println(again.Code, again.Header().Get("Retry-After"))
			}
			w.WriteHeader(http.StatusCreated)
		}))
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.SetPathValue("id", "1001")
	w := httptest.NewRecorder()
	charge.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output:
	// 409 10
	// 201
}
