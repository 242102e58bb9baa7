package gooselock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/gooselock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const resource = "orders-db/migrations"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// work counts the migrations that run.
type work struct {
	mu         sync.Mutex
	now        int
	peak, runs int
	during     func(context.Context)
}

func (w *work) run(ctx context.Context, _ *sql.DB) error {
	w.count(1)
	w.during(ctx)
	w.count(-1)
	return nil
}

func (w *work) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += n
	w.runs += max(n, 0)
	w.peak = max(w.peak, w.now)
}

func slowly(context.Context) { <-time.After(5 * time.Second) }

// provider is that of a process of its own. Its versions are in v, which all processes share.
func provider(t *testing.T, v *versions, w *work, opts ...goose.ProviderOption) *goose.Provider {
	t.Helper()
	db := sql.OpenDB(nowhere{})
	t.Cleanup(func() { must(t, db.Close()) })
	down := func(context.Context, *sql.DB) error { return nil }
	migration := goose.NewGoMigration(1, &goose.GoFunc{RunDB: w.run}, &goose.GoFunc{RunDB: down})
	p, err := goose.NewProvider(goose.DialectCustom, db, nil, append([]goose.ProviderOption{goose.WithStore(v),
		goose.WithGoMigrations(migration), goose.WithDisableGlobalRegistry(true)}, opts...)...)
	must(t, err)
	return p
}

func locking(t *testing.T, l lock.Locker, opts ...lock.AcquireOption) goose.ProviderOption {
	t.Helper()
	locker, err := gooselock.New(l, resource, opts...)
	must(t, err)
	return goose.WithLocker(locker)
}

// TestOneMigrates: two processes start at once, and the second one finds nothing to do. Without a locker both run the
// migration.
func TestOneMigrates(t *testing.T) {
	for name, c := range map[string]struct {
		option     func(*testing.T, memlock.Nodes) goose.ProviderOption
		runs, peak int
	}{
		"with this package": {func(t *testing.T, nodes memlock.Nodes) goose.ProviderOption {
			return locking(t, process(t, nodes))
		}, 1, 1},
		"without (bad)": {func(*testing.T, memlock.Nodes) goose.ProviderOption {
			return goose.WithDisableGlobalRegistry(true)
		}, 2, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			nodes, v, w := memlock.NewNodes(3), created(), &work{during: slowly}
			var all sync.WaitGroup
			for range 2 {
				p := provider(t, v, w, c.option(t, nodes))
				all.Go(func() {
					if _, err := p.Up(t.Context()); err != nil && c.peak == 1 {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			all.Wait()
			if w.runs != c.runs || w.peak != c.peak {
				t.Errorf("%s: %d runs, %d at once", name, w.runs, w.peak)
			}
		})
	}
}

// TestOneProvider: goose lets the next call of a provider lock before the last one has unlocked. It waits.
func TestOneProvider(t *testing.T) {
	w := &work{during: func(context.Context) { <-time.After(time.Millisecond) }}
	p := provider(t, created(), w, locking(t, process(t, memlock.NewNodes(3))))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				_, up := p.Up(t.Context())
				_, down := p.Down(t.Context())
				if down != nil && !errors.Is(down, goose.ErrNoNextVersion) || up != nil {
					t.Errorf("up: %v, down: %v", up, down)
				}
			}
		})
	}
	all.Wait()
	if w.runs == 0 || w.peak != 1 {
		t.Errorf("%d runs, %d at once", w.runs, w.peak)
	}
}

// TestErrors: what Up fails with before it migrates.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, w := memlock.NewNodes(3), &work{during: slowly}
		lease, err := process(t, nodes).Acquire(t.Context(), resource)
		must(t, err)
		p := provider(t, created(), w, locking(t, process(t, nodes), lock.MaxWait(time.Minute)))
		if _, err := p.Up(t.Context()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("it is held: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Up(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("its context ends: %v", err)
		}
		must(t, lease.Release(t.Context()))
		if _, err := gooselock.New(process(t, nodes), "{"); !errors.Is(err, lock.ErrInvalidResource) {
			t.Errorf("an invalid name: %v", err)
		}
	})
}

// TestNoQuorum: no migration runs.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		w := &work{during: slowly}
		for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(time.Second)} {
			_, err := provider(t, created(), w, locking(t, l, opt)).Up(t.Context())
			if !errors.Is(err, lock.ErrNoQuorum) || w.runs != 0 {
				t.Errorf("%v, %d runs", err, w.runs)
			}
		}
	})
}

// TestTheContextEnds: the lock is kept until the migration has ended.
func TestTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		other := process(t, nodes)
		ctx, cancel := context.WithCancel(t.Context())
		w := &work{during: func(ctx context.Context) {
			cancel()
			<-ctx.Done()
			synctest.Wait()
			if err := lock.Do(t.Context(), other, resource, nothing, lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("another process: %v", err)
			}
		}}
		if _, err := provider(t, created(), w, locking(t, process(t, nodes))).Up(ctx); err == nil {
			t.Error("it has migrated")
		}
		must(t, lock.Do(t.Context(), other, resource, nothing, lock.NoWait()))
	})
}

// TestLoss: Up fails after its work. With lock.Do around it, the migration is told.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := process(t, memlock.NewNodes(3))
		w := &work{during: func(ctx context.Context) {
			must(t, l.Lose(resource))
			if ctx.Err() != nil {
				t.Error("goose tells a migration: the documentation says that it does not")
			}
		}}
		if _, err := provider(t, created(), w, locking(t, l)).Up(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("%v", err)
		}
		w = &work{during: func(ctx context.Context) {
			must(t, l.Lose(resource))
			<-ctx.Done()
		}}
		p := provider(t, created(), w)
		err := lock.Do(t.Context(), l, resource, func(ctx context.Context, _ lock.Lease) error {
			_, err := p.Up(ctx)
			return err
		}, lock.MaxWait(time.Hour))
		if !errors.Is(err, lock.ErrLost) || w.runs != 1 {
			t.Errorf("inside lock.Do: %v, %d runs", err, w.runs)
		}
	})
}

func nothing(context.Context, lock.Lease) error { return nil }

func Example() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	l, err := gooselock.New(locker, resource, lock.MaxHold(6*time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(nowhere{}) // sql.Open in a service
	defer db.Close()
	migration := goose.NewGoMigration(1, &goose.GoFunc{RunDB: func(context.Context, *sql.DB) error {
		fmt.Println("migrating")
		return nil
	}}, nil)
	provider, err := goose.NewProvider(goose.DialectCustom, db, nil, goose.WithStore(created()),
		goose.WithGoMigrations(migration), goose.WithLocker(l))
	if err != nil {
		log.Fatal(err)
	}
	results, err := provider.Up(context.Background())
	fmt.Println(len(results), err)
	// Output:
	// migrating
	// 1 <nil>
}
