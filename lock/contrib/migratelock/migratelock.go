// Package migratelock lets one process at a time migrate a database with github.com/golang-migrate/migrate/v4, also a
// database whose driver has no lock of its own.
//
//	driver, err := migratelock.New(ctx, locker, "orders-db/migrations", postgresDriver, lock.MaxHold(6*time.Hour))
//	...
//	m, err := migrate.NewWithInstance("file", source, "postgres", driver)
//	...
//	err = m.Up()
//
// # What migrate does not give
//
// migrate does not stop a migration that runs. If the lock is lost meanwhile, the driver refuses what comes next: the
// other migrations, and the mark that this one has ended. The version stays dirty, as after a failed migration, and
// other processes refuse to migrate. Look at the database, then use Force.
//
// migrate locks before it runs, sets a version or drops. A program that calls these methods of the driver without Lock
// has the lock for the one call.
//
// migrate gives up on a lock after Migrate.LockTimeout, 15 seconds, and forgets that it asked. A lock that is granted
// afterwards is kept until Close. So a wait here ends after [MaxWait] unless lock.MaxWait is among the options. Keep
// LockTimeout longer than that.
//
// A Migrate whose lock was lost returns migrate.ErrLocked from then on: make a new one.
//
// The lease ends after lock.MaxHold, one hour unless set: set it longer than your migrations take.
package migratelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/synclock"
)

// MaxWait is how long a lock is waited for. It is shorter than migrate.DefaultLockTimeout.
const MaxWait = 10 * time.Second

// New returns a driver that migrates with the lock of that name; see [lock.Locker].Acquire for opts. Inside, it takes
// the lock of the driver as well, which excludes processes without this package.
//
// Lock fails with database.ErrLocked if another process has the lock, and with the error of Acquire if too few nodes
// answer. ctx bounds the wait; a lock that is held is kept until Unlock or Close. Once the lease is lost, Run,
// SetVersion and Drop fail with its cause, such as lock.ErrLost, and so does Unlock. After Unlock they fail with
// lock.ErrNotHeld, until Lock succeeds again.
//
// New sends nothing. It fails with lock.ErrInvalidResource.
func New(ctx context.Context, locker lock.Locker, resource string, driver database.Driver,
	opts ...lock.AcquireOption,
) (database.Driver, error) {
	m, err := synclock.New(ctx, locker, resource, append([]lock.AcquireOption{lock.MaxWait(MaxWait)}, opts...)...)
	if err != nil {
		return nil, err
	}
	l := &locked{Driver: driver, m: m, again: func(driver database.Driver) (database.Driver, error) {
		return New(ctx, locker, resource, driver, opts...)
	}}
	l.ctx, l.closed = context.WithCancelCause(ctx)
	return l, nil
}

// locked hides the methods of a driver that need the lock.
type locked struct {
	database.Driver
	m      *synclock.Mutex
	again  func(database.Driver) (database.Driver, error)
	ctx    context.Context // of Lock, which migrate gives none
	closed context.CancelCauseFunc
	lost   atomic.Bool // the last Unlock failed
}

// Open is New for the driver of another URL.
func (l *locked) Open(url string) (database.Driver, error) {
	driver, err := l.Driver.Open(url)
	if err != nil {
		return nil, err
	}
	return l.again(driver)
}

func (l *locked) Lock() error {
	err := l.m.Acquire(l.ctx)
	if errors.Is(err, lock.ErrHeld) {
		return fmt.Errorf("%w: %w", database.ErrLocked, err)
	} else if err != nil {
		return err
	}
	if err := l.Driver.Lock(); err != nil {
		return errors.Join(err, l.m.Release())
	}
	l.lost.Store(false)
	return nil
}

func (l *locked) Unlock() error {
	err := l.Driver.Unlock()
	released := l.m.Release()
	l.lost.Store(released != nil)
	return errors.Join(err, released)
}

// Close ends a Lock that still waits, and gives back what was granted after migrate had given up.
func (l *locked) Close() error {
	l.closed(errors.New("migratelock: the driver is closed"))
	err := l.Driver.Close()
	if released := l.m.Release(); !errors.Is(released, lock.ErrNotHeld) {
		err = errors.Join(err, released)
	}
	return err
}

func (l *locked) Run(migration io.Reader) error {
	return l.held(func() error { return l.Driver.Run(migration) })
}

func (l *locked) SetVersion(version int, dirty bool) error {
	return l.held(func() error { return l.Driver.SetVersion(version, dirty) })
}

func (l *locked) Drop() error { return l.held(l.Driver.Drop) }

// held runs fn if the lease is not over. If migrate has not locked, it has the lock for this call.
func (l *locked) held(fn func() error) (err error) {
	cause := context.Cause(l.m.Context())
	if errors.Is(cause, lock.ErrNotHeld) && !l.lost.Load() {
		if err := l.Lock(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Unlock()) }()
		return fn()
	}
	if cause != nil {
		return fmt.Errorf("migratelock: not locked: lock lost or never taken; check the schema_migrations row: %w", cause)
	}
	return fn()
}
