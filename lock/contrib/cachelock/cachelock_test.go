package cachelock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/cachelock"
	"github.com/lockscope/lockscope/lock/fencing"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// store is a shared cache. It refuses a token that is lower than the one before.
type store struct {
	mu     sync.Mutex
	values map[string]string
	fences map[string]uint64
	filled int // how often Fill was called
}

func newStore() *store {
	return &store{values: make(map[string]string), fences: make(map[string]uint64)}
}

func (s *store) load(_ context.Context, key string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, found := s.values[key]
	return value, found, nil
}

func (s *store) save(_ context.Context, key, value string, fence uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fence < s.fences[key] {
		return &fencing.StaleError{Resource: key, Fence: fence, Seen: s.fences[key]}
	}
	s.values[key], s.fences[key] = value, fence
	return nil
}

// slowly is a Fill. It returns the number of its call.
func (s *store) slowly(context.Context, string) (string, error) {
	s.mu.Lock()
	s.filled++
	n := s.filled
	s.mu.Unlock()
	<-time.After(time.Second)
	return fmt.Sprint("value ", n), nil
}

func (s *store) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filled
}

// cache is that of a process of its own.
func (s *store) cache(t *testing.T, nodes memlock.Nodes) (*cachelock.Cache[string], *memlock.Locker) {
	t.Helper()
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return &cachelock.Cache[string]{Locker: l, Load: s.load, Fill: s.slowly, Store: s.save}, l
}

// TestOneFills: three processes with three callers each fill an entry once. Without locks each caller fills it.
func TestOneFills(t *testing.T) {
	for name, c := range map[string]struct {
		get  func(ctx context.Context, c *cachelock.Cache[string]) (string, error)
		want int
	}{
		"with this package": {func(ctx context.Context, c *cachelock.Cache[string]) (string, error) {
			return c.Get(ctx, "report")
		}, 1},
		"without (bad)": {func(ctx context.Context, c *cachelock.Cache[string]) (string, error) {
			if value, found, err := c.Load(ctx, "report"); found || err != nil {
				return value, err
			}
			value, err := c.Fill(ctx, "report")
			return value, errors.Join(err, c.Store(ctx, "report", value, 0))
		}, 9},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, nodes := newStore(), memlock.NewNodes(3)
			var all sync.WaitGroup
			for range 3 {
				process, _ := s.cache(t, nodes)
				for range 3 {
					all.Go(func() {
						value, err := c.get(t.Context(), process)
						if err != nil || c.want == 1 && value != "value 1" {
							t.Errorf("%s: %q, %v", name, value, err)
						}
					})
				}
			}
			all.Wait()
			if n := s.calls(); n != c.want {
				t.Errorf("%s: filled %d times", name, n)
			}
		})
	}
}

// TestAFillThatFails: the next caller that waits tries, and the others read what it filled.
func TestAFillThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, nodes := newStore(), memlock.NewNodes(3)
		broken, began := errors.New("broken"), make(chan struct{})
		first, _ := s.cache(t, nodes)
		first.Fill = func(ctx context.Context, key string) (string, error) {
			close(began)
			value, _ := s.slowly(ctx, key)
			return value, broken
		}
		failed := make(chan error, 1)
		go func() {
			_, err := first.Get(t.Context(), "report")
			failed <- err
		}()
		<-began
		var all sync.WaitGroup
		for range 3 {
			process, _ := s.cache(t, nodes)
			all.Go(func() {
				if value, err := process.Get(t.Context(), "report"); value != "value 2" || err != nil {
					t.Errorf("%q, %v", value, err)
				}
			})
		}
		all.Wait()
		if err := <-failed; !errors.Is(err, broken) || s.calls() != 2 {
			t.Errorf("%v, filled %d times", err, s.calls())
		}
	})
}

// TestALostLeaseStoresNothing: a Fill that goes on after its lease is lost, or after its caller went away, stores
// nothing. While it runs, a caller that went away still has the lock.
func TestALostLeaseStoresNothing(t *testing.T) {
	gone := errors.New("gone")
	for want, end := range map[error]func(*testing.T, *memlock.Locker, context.CancelCauseFunc){
		lock.ErrLost: func(t *testing.T, l *memlock.Locker, _ context.CancelCauseFunc) { must(t, l.Lose("report")) },
		gone:         func(_ *testing.T, _ *memlock.Locker, leave context.CancelCauseFunc) { leave(gone) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s, nodes := newStore(), memlock.NewNodes(3)
			first, l := s.cache(t, nodes)
			second, _ := s.cache(t, nodes)
			second.Options = []lock.AcquireOption{lock.MaxWait(time.Minute)}
			ctx, leave := context.WithCancelCause(t.Context())
			first.Fill = func(ctx context.Context, key string) (string, error) {
				end(t, l, leave)
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, want) {
					t.Errorf("%v: told %v", want, cause)
				}
				if _, err := second.Get(t.Context(), "report"); want == gone && !errors.Is(err, lock.ErrMaxWait) {
					t.Errorf("%v: another process: %v", want, err)
				}
				return "late", nil
			}
			if value, err := first.Get(ctx, "report"); value != "" || !errors.Is(err, want) {
				t.Errorf("%q, %v, want %v", value, err, want)
			}
			if value, _, _ := s.load(t.Context(), "report"); value == "late" {
				t.Errorf("%v: it was stored", want)
			}
		})
	}
}

// TestAPausedWriterIsRefused: the lease is lost between the look at it and the write. The store refuses the token.
func TestAPausedWriterIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, nodes := newStore(), memlock.NewNodes(3)
		first, l := s.cache(t, nodes)
		second, _ := s.cache(t, nodes)
		first.Store = func(ctx context.Context, key, value string, fence uint64) error {
			must(t, l.Lose("report"))
			if _, err := second.Get(t.Context(), "report"); err != nil {
				t.Errorf("another process: %v", err)
			}
			return s.save(ctx, key, value, fence)
		}
		if _, err := first.Get(t.Context(), "report"); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("its write: %v", err)
		}
		if value, err := second.Get(t.Context(), "report"); value != "value 2" || err != nil {
			t.Errorf("the entry: %q, %v", value, err)
		}
	})
}

// TestErrors: those of Load and Acquire, and a panic of Fill, which leaves nothing held.
func TestErrors(t *testing.T) {
	s, nodes := newStore(), memlock.NewNodes(3)
	c, l := s.cache(t, nodes)
	c.Fill = func(context.Context, string) (string, error) { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Get(t.Context(), "report")
	}()
	must(t, lock.Do(t.Context(), l, "report", func(context.Context, lock.Lease) error { return nil }, lock.NoWait()))
	down := errors.New("down")
	c.Load = func(context.Context, string) (string, bool, error) { return "", false, down }
	if _, err := c.Get(t.Context(), "report"); !errors.Is(err, down) {
		t.Errorf("the cache is down: %v", err)
	}
}

// TestNoQuorum: nobody fills the entry.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		s := newStore()
		c := &cachelock.Cache[string]{Locker: l, Load: s.load, Fill: s.slowly, Store: s.save}
		for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(time.Second)} {
			c.Options = []lock.AcquireOption{opt}
			if _, err := c.Get(t.Context(), "report"); !errors.Is(err, lock.ErrNoQuorum) || s.calls() != 0 {
				t.Errorf("%v, filled %d times", err, s.calls())
			}
		}
	})
}

func Example() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	s := newStore() // Redis, say
	reports := cachelock.Cache[string]{
		Locker:  locker,
		Options: []lock.AcquireOption{lock.MaxHold(time.Minute)},
		Load:    s.load,
		Fill: func(context.Context, string) (string, error) {
			fmt.Println("filled")
			return "the report", nil
		},
		Store: s.save,
	}
	for range 2 {
		report, err := reports.Get(context.Background(), "report:2026-11")
		fmt.Println(report, err)
	}
	// Output:
	// filled
	// the report <nil>
	// the report <nil>
}
