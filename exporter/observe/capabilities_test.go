package observe_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// decorators are all that wrap a Locker here. Add yours.
func decorators(t *testing.T) map[string]func(lock.Locker) lock.Locker {
	board, err := live.New()
	must(t, err)
	measured := func(l lock.Locker) lock.Locker {
		m, err := instrument.Wrap(l, instrument.WithRegisterer(prometheus.NewRegistry()))
		must(t, err)
		return m
	}
	shown := func(l lock.Locker) lock.Locker {
		s, err := board.Wrap(l)
		must(t, err)
		return s
	}
	return map[string]func(lock.Locker) lock.Locker{
		"instrument": measured,
		"live":       shown,
		"reentrant":  lock.Reentrant,
		"observe": func(l lock.Locker) lock.Locker {
			o, err := observe.New(l, observe.Config{})
			must(t, err)
			t.Cleanup(func() { must(t, o.Shutdown(context.Background())) })
			return o
		},
		"all of them": func(l lock.Locker) lock.Locker { return lock.Reentrant(measured(shown(lock.Reentrant(l)))) },
	}
}

// able is a Locker that notes the options that it is given.
type able struct {
	*memlock.Locker
	mu    sync.Mutex
	given []lock.AcquireOptions
}

func newAble(t *testing.T) *able {
	l, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return &able{Locker: l}
}

func (a *able) Acquire(ctx context.Context, r string, opts ...lock.AcquireOption) (lock.Lease, error) {
	given := lock.NewAcquireOptions(opts...)
	a.mu.Lock()
	a.given = append(a.given, given)
	a.mu.Unlock()
	return a.Locker.Acquire(ctx, r, opts...)
}

// TestDecoratorsHideNothing: the Locker below gets the calls and the options that it gets without them.
func TestDecoratorsHideNothing(t *testing.T) {
	bare := newAble(t)
	use(t, bare)
	for name, wrap := range decorators(t) {
		t.Run(name, func(t *testing.T) {
			below := newAble(t)
			use(t, wrap(below))
			if len(below.given) != len(bare.given) {
				t.Fatalf("%d calls, %d without the decorator", len(below.given), len(bare.given))
			}
			for i, want := range bare.given {
				if got := below.given[i]; got != want {
					t.Errorf("call %d has %+v, without the decorator %+v", i, got, want)
				}
			}
		})
	}
}

// use makes two readers at once, a term of a writer, and permits up to a refusal.
func use(t *testing.T, l lock.Locker) {
	t.Helper()
	rw, err := rwlock.New(l, "prices")
	must(t, err)
	for range 2 {
		reader, err := rw.RLock(t.Context(), lock.NoWait(), lock.HoldReason("a test"))
		must(t, err)
		defer func() { must(t, reader.Release(context.Background())) }()
	}
	s, err := semaphore.New(l, "pool", 1)
	must(t, err)
	permit, err := s.Acquire(t.Context())
	must(t, err)
	_, err = s.Acquire(t.Context(), lock.MaxAttempts(2))
	if !errors.Is(err, lock.ErrHeld) {
		t.Errorf("a second permit of one: %v", err)
	}
	must(t, permit.Release(context.Background()))
}
