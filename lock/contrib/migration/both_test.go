package migration_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("%v; want %v", err, target)
		}
	}
}

// memory returns a Locker on nodes in memory.
func memory(t testing.TB, nodes memlock.Nodes, opts ...lock.Option) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes, opts...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// log writes down which of several Lockers acquires and releases, in order.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (g *log) add(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, line)
}

func (g *log) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.lines, ", ")
}

type logged struct {
	lock.Locker
	name string
	log  *log
}

type loggedLease struct {
	lock.Lease
	by *logged
}

func (l *logged) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource, opts...)
	if err != nil {
		return nil, err
	}
	l.log.add("acquire " + l.name)
	return &loggedLease{lease, l}, nil
}

func (l *loggedLease) Release(ctx context.Context) error {
	l.by.log.add("release " + l.by.name)
	return l.Lease.Release(ctx)
}

func TestBothKeepsTheContract(t *testing.T) {
	locktest.Run(t, locktest.Driver{Start: func(testing.TB) locktest.Maker {
		old, new := memlock.NewNodes(1), memlock.NewNodes(3)
		return func(t testing.TB, opts ...lock.Option) lock.Locker {
			return migration.Both(memory(t, old, opts...), memory(t, new, opts...))
		}
	}, Capabilities: driver.Capabilities{Keep: true, Readers: true}, NoSemaphores: true})
}

// TestBothExcludesBothKinds of processes, holds the locks in the same order, and leaves nothing behind.
func TestBothExcludesBothKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, new := memory(t, memlock.NewNodes(1)), memory(t, memlock.NewNodes(3))
		var events log
		both := migration.Both(&logged{old, "old", &events}, &logged{new, "new", &events})
		lease, err := both.Acquire(t.Context(), "job")
		must(t, err)
		for _, l := range []lock.Locker{old, new, both} {
			_, err := l.Acquire(t.Context(), "job", lock.NoWait())
			wantErr(t, err, lock.ErrHeld)
		}
		must(t, lease.Release(t.Context()))

		held, err := new.Acquire(t.Context(), "job")
		must(t, err)
		_, err = both.Acquire(t.Context(), "job", lock.MaxWait(time.Second))
		wantErr(t, err, lock.ErrMaxWait)
		must(t, held.Release(t.Context()))
		held, err = old.Acquire(t.Context(), "job", lock.NoWait())
		must(t, err)
		must(t, held.Release(t.Context()))

		const want = "acquire old, acquire new, release new, release old, acquire old, release old"
		if got := events.String(); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	})
}

// TestBothEndsWithEither lock that is lost, and releases the other one.
func TestBothEndsWithEither(t *testing.T) {
	for _, lost := range []string{"old", "new"} {
		t.Run(lost, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lockers := map[string]*memlock.Locker{
					"old": memory(t, memlock.NewNodes(1)), "new": memory(t, memlock.NewNodes(3)),
				}
				lease, err := migration.Both(lockers["old"], lockers["new"]).Acquire(t.Context(), "job")
				must(t, err)
				must(t, lockers[lost].Lose("job"))
				<-lease.Context().Done()
				wantErr(t, context.Cause(lease.Context()), lock.ErrLost)
				err = lease.Extend(t.Context())
				wantErr(t, err, lock.ErrLost)
				err = lease.Release(t.Context())
				wantErr(t, err, lock.ErrNotHeld)
				if !strings.Contains(err.Error(), lost+" lock") {
					t.Errorf("it does not say that the %s lock is lost: %v", lost, err)
				}
				for _, l := range lockers {
					again, err := l.Acquire(t.Context(), "job", lock.NoWait())
					must(t, err)
					must(t, again.Release(t.Context()))
				}
			})
		})
	}
}

// brief is a Locker whose leases last for five seconds.
type brief struct{ lock.Locker }

func (b brief) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return b.Locker.Acquire(ctx, resource, append(opts, lock.TTL(5*time.Second), lock.NoRenew())...)
}

// TestBothLastNoLongerThanEither of the two leases.
func TestBothLastNoLongerThanEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, new := memory(t, memlock.NewNodes(1)), memory(t, memlock.NewNodes(3))
		for _, both := range []lock.Locker{migration.Both(brief{old}, new), migration.Both(old, brief{new})} {
			lease, err := both.Acquire(t.Context(), "job")
			must(t, err)
			if left := lease.Remaining(); left <= 0 || left > 5*time.Second {
				t.Errorf("%v left of a lease of five seconds and one of ten", left)
			}
			must(t, lease.Release(t.Context()))
		}
	})
}

// TestBothWaitsOnce: MaxWait is for the two waits together.
func TestBothWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, new := memory(t, memlock.NewNodes(1)), memory(t, memlock.NewNodes(3))
		first, err := old.Acquire(t.Context(), "job")
		must(t, err)
		second, err := new.Acquire(t.Context(), "job")
		must(t, err)
		time.AfterFunc(6*time.Second, func() { must(t, first.Release(t.Context())) })
		began := time.Now()
		_, err = migration.Both(old, new).Acquire(t.Context(), "job", lock.MaxWait(10*time.Second))
		wantErr(t, err, lock.ErrMaxWait)
		if waited := time.Since(began); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("waited %v, of 10s", waited)
		}
		must(t, second.Release(t.Context()))
	})
}

// TestBothIsFenced although the old lock has no tokens, and takes no option from the caller's slice.
func TestBothIsFenced(t *testing.T) {
	t.Parallel()
	old := stringKeys(t, locktest.Servers(t, 1))
	new := memory(t, memlock.NewNodes(3))
	opts := make([]lock.AcquireOption, 1, 4)
	opts[0] = lock.Fenced()
	lease, err := migration.Both(old, new).Acquire(t.Context(), "job", opts...)
	must(t, err)
	if lease.Fence() == 0 {
		t.Error("no token")
	}
	must(t, lease.Release(t.Context()))
	if opts[:2][1] != nil {
		t.Error("the caller's options were written to")
	}
	_, err = migration.Both(new, old).Acquire(t.Context(), "job", opts...)
	wantErr(t, err, lock.ErrInvalidOption)
	_, err = migration.Both(nil, old).Acquire(t.Context(), "job")
	wantErr(t, err, lock.ErrInvalidOption)
}
