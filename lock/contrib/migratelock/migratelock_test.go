package migratelock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	databasestub "github.com/golang-migrate/migrate/v4/database/stub"
	databasetest "github.com/golang-migrate/migrate/v4/database/testing"
	"github.com/golang-migrate/migrate/v4/source"
	sourcestub "github.com/golang-migrate/migrate/v4/source/stub"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migratelock"
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

// db is a database without locks of its own, as the drivers of several processes see it.
type db struct {
	mu      sync.Mutex
	version int
	dirty   bool
	running int
	peak    int // the most migrations that ran at once
	runs    int
	during  func() // a migration
	read    func() // after the version was read; nil for nothing
}

func newDB() *db {
	return &db{version: database.NilVersion, during: func() { <-time.After(5 * time.Second) }}
}

func (d *db) Open(string) (database.Driver, error) { return d, nil }
func (d *db) Close() error                         { return nil }
func (d *db) Lock() error                          { return nil }
func (d *db) Unlock() error                        { return nil }
func (d *db) Drop() error                          { return nil }

func (d *db) Run(migration io.Reader) error {
	if _, err := io.ReadAll(migration); err != nil {
		return err
	}
	d.count(1)
	d.during()
	d.count(-1)
	return nil
}

func (d *db) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running += n
	d.runs += max(n, 0)
	d.peak = max(d.peak, d.running)
}

func (d *db) SetVersion(version int, dirty bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version, d.dirty = version, dirty
	return nil
}

func (d *db) Version() (int, bool, error) {
	d.mu.Lock()
	version, dirty := d.version, d.dirty
	d.mu.Unlock()
	if d.read != nil {
		d.read()
	}
	return version, dirty, nil
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func guarded(t *testing.T, l lock.Locker, d database.Driver, opts ...lock.AcquireOption) database.Driver {
	t.Helper()
	driver, err := migratelock.New(t.Context(), l, resource, d, opts...)
	must(t, err)
	return driver
}

// migration is a Migrate of one migration on that driver.
func migration(t *testing.T, driver database.Driver) *migrate.Migrate {
	t.Helper()
	src, err := sourcestub.WithInstance(nil, &sourcestub.Config{})
	must(t, err)
	src.(*sourcestub.Stub).Migrations.Append(&source.Migration{Version: 1, Direction: source.Up, Identifier: "CREATE"})
	m, err := migrate.NewWithInstance("stub", src, "db", driver)
	must(t, err)
	return m
}

// TestOneMigrates: two processes start at once. The second one waits and finds nothing to do. Without this package both
// run the migration.
func TestOneMigrates(t *testing.T) {
	for name, c := range map[string]struct {
		wrap       func(*testing.T, memlock.Nodes, database.Driver) database.Driver
		runs, peak int
	}{
		"with this package": {func(t *testing.T, nodes memlock.Nodes, d database.Driver) database.Driver {
			return guarded(t, process(t, nodes), d)
		}, 1, 1},
		"without (bad)": {func(_ *testing.T, _ memlock.Nodes, d database.Driver) database.Driver { return d }, 2, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, nodes := newDB(), memlock.NewNodes(3)
			d.read = func() { <-time.After(time.Second) } // both have read before one of them writes
			var all sync.WaitGroup
			for range 2 {
				m := migration(t, c.wrap(t, nodes, d))
				all.Go(func() {
					if err := m.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			all.Wait()
			if d.runs != c.runs || d.peak != c.peak || d.version != 1 || d.dirty {
				t.Errorf("%s: %d runs, %d at once, version %d, dirty %v", name, d.runs, d.peak, d.version, d.dirty)
			}
		})
	}
}

// TestItIsHeld: migrate is told that the database is locked, and who has it. What migrate forgot, Close gives back.
func TestItIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, nodes := newDB(), memlock.NewNodes(3)
		holder := process(t, nodes)
		lease, err := holder.Acquire(t.Context(), resource)
		must(t, err)
		err = migration(t, guarded(t, process(t, nodes), d)).Up()
		if held, ok := errors.AsType[*lock.HeldError](err); !errors.Is(err, database.ErrLocked) || !ok ||
			held.Holder.Instance == "" {
			t.Errorf("it is held: %v", err)
		}
		late := migration(t, guarded(t, process(t, nodes), d, lock.MaxWait(time.Hour))) // longer than LockTimeout (bad)
		if err := late.Up(); !errors.Is(err, migrate.ErrLockTimeout) {
			t.Errorf("it is held for longer than LockTimeout: %v", err)
		}
		waits := migration(t, guarded(t, process(t, nodes), d, lock.MaxWait(time.Hour)))
		if err := waits.Up(); !errors.Is(err, migrate.ErrLockTimeout) {
			t.Errorf("it is held for longer than LockTimeout: %v", err)
		}
		_, err = waits.Close()
		must(t, err)
		must(t, lease.Release(t.Context()))
		time.Sleep(time.Second) // or until its next poll
		third := guarded(t, process(t, nodes), d, lock.NoWait())
		if err := third.Lock(); !errors.Is(err, database.ErrLocked) {
			t.Errorf("granted to the first that gave up: %v", err)
		}
		_, err = late.Close()
		must(t, err)
		must(t, errors.Join(third.Lock(), third.Unlock()))
	})
}

// TestNoQuorum: no migration runs, and migrate is not told that another process has the lock.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		d := newDB()
		for _, opt := range []lock.AcquireOption{nil, lock.NoWait()} {
			driver := guarded(t, l, d, opt)
			for _, err := range []error{migration(t, driver).Up(), driver.Run(strings.NewReader("")), driver.Drop()} {
				if !errors.Is(err, lock.ErrNoQuorum) || errors.Is(err, database.ErrLocked) || d.runs != 0 {
					t.Errorf("%v, %d runs", err, d.runs)
				}
			}
		}
	})
}

// TestLoss: a migration whose lock is lost runs to its end, and stays dirty. Other processes do not migrate then.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, nodes := newDB(), memlock.NewNodes(3)
		l := process(t, nodes)
		d.during = func() { must(t, l.Lose(resource)) }
		driver := guarded(t, l, d)
		m := migration(t, driver)
		if err := m.Up(); !errors.Is(err, lock.ErrLost) || !d.dirty || d.version != 1 {
			t.Errorf("%v, dirty %v, version %d", err, d.dirty, d.version)
		}
		if err := errors.Join(driver.Run(nil), driver.Drop()); !errors.Is(err, lock.ErrNotHeld) || d.runs != 1 ||
			!strings.Contains(err.Error(), "check the schema_migrations row") {
			t.Errorf("without the lock: %v, %d runs", err, d.runs)
		}
		if err := m.Up(); !errors.Is(err, migrate.ErrLocked) {
			t.Errorf("once more: %v", err)
		}
		err := migration(t, guarded(t, process(t, nodes), d, lock.MaxWait(time.Hour))).Up()
		if dirty, ok := errors.AsType[migrate.ErrDirty](err); !ok || dirty.Version != 1 {
			t.Errorf("another process: %v", err)
		}
	})
}

// TestMigratesOwnSuite passes on the driver of their stub, which has a lock of its own, and leaves nothing locked.
func TestMigratesOwnSuite(t *testing.T) {
	stub, err := new(databasestub.Stub).Open("")
	must(t, err)
	l := process(t, memlock.NewNodes(3))
	databasetest.Test(t, guarded(t, l, stub, lock.NoWait()), []byte("/* migration */"))
	must(t, lock.Do(t.Context(), l, resource, nothing, lock.NoWait()))
}

// TestRunWithoutLock has the lock while it runs, and not a moment longer.
func TestRunWithoutLock(t *testing.T) {
	d, nodes := newDB(), memlock.NewNodes(3)
	other := process(t, nodes)
	var beside error
	d.during = func() { beside = lock.Do(t.Context(), other, resource, nothing, lock.NoWait()) }
	driver := guarded(t, process(t, nodes), d, lock.NoWait())
	must(t, driver.Run(strings.NewReader("")))
	if !errors.Is(beside, lock.ErrHeld) {
		t.Errorf("beside the migration: %v", beside)
	}
	lease, err := other.Acquire(t.Context(), resource, lock.NoWait())
	must(t, err)
	if err := driver.SetVersion(1, true); !errors.Is(err, database.ErrLocked) || d.dirty {
		t.Errorf("while another process has the lock: %v", err)
	}
	must(t, lease.Release(t.Context()))
}

// TestTheDriverIsLockedInside: with its own lock, which is given back if it fails. Open keeps both.
func TestTheDriverIsLockedInside(t *testing.T) {
	l := process(t, memlock.NewNodes(3))
	driver, err := guarded(t, l, new(itself)).Open("x")
	must(t, err)
	must(t, driver.Lock())
	if err := lock.Do(t.Context(), l, resource, nothing, lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("held by the driver that Open returned: %v", err)
	}
	must(t, driver.Unlock())
	broken := guarded(t, l, &itself{locked: true})
	if err := broken.Lock(); !errors.Is(err, database.ErrLocked) {
		t.Errorf("locked by its own lock: %v", err)
	}
	must(t, lock.Do(t.Context(), l, resource, nothing, lock.NoWait()))
	if _, err := migratelock.New(t.Context(), l, "{", new(db)); !errors.Is(err, lock.ErrInvalidResource) {
		t.Errorf("an invalid name: %v", err)
	}
}

func nothing(context.Context, lock.Lease) error { return nil }

// itself is a driver with a lock.
type itself struct {
	db
	locked bool
}

func (i *itself) Open(string) (database.Driver, error) { return i, nil }

func (i *itself) Lock() error {
	if i.locked {
		return database.ErrLocked
	}
	i.locked = true
	return nil
}

func (i *itself) Unlock() error {
	i.locked = false
	return nil
}

func Example() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	orders := newDB() // postgres.WithInstance in a service
	orders.during = func() { fmt.Println("migrating") }
	driver, err := migratelock.New(context.Background(), locker, resource, orders, lock.MaxHold(6*time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	src, err := sourcestub.WithInstance(nil, &sourcestub.Config{}) // "file://migrations" in a service
	if err != nil {
		log.Fatal(err)
	}
	src.(*sourcestub.Stub).Migrations.Append(&source.Migration{Version: 1, Direction: source.Up, Identifier: "CREATE"})
	m, err := migrate.NewWithInstance("stub", src, "orders", driver)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Up())
	fmt.Println(m.Up())
	// Output:
	// migrating
	// <nil>
	// no change
}
