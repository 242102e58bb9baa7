// Package gooselock lets one process at a time migrate a database with github.com/pressly/goose/v3, whatever the
// database is.
//
//	l, err := gooselock.New(locker, "orders-db/migrations", lock.MaxHold(6*time.Hour))
//	...
//	provider, err := goose.NewProvider(goose.DialectClickHouse, db, migrations, goose.WithLocker(l))
//	...
//	results, err := provider.Up(ctx)
//
// # What goose does not give
//
// goose does not stop a migration whose lock is lost. The migration goes on, and the next ones run; another process may
// migrate beside them. Up then fails, after its work, with lock.ErrLost. Where that is too late, put lock.Do around Up
// instead of this package: the context that it gives to Up ends with the lease.
//
//	err := lock.Do(ctx, locker, "orders-db/migrations", func(ctx context.Context, _ lock.Lease) error {
//		_, err := provider.Up(ctx)
//		return err
//	}, lock.MaxHold(6*time.Hour))
//
// The lease ends after lock.MaxHold, one hour unless set: set it longer than your migrations take.
//
// Up begins without the lock: it creates its table of versions, and looks whether there is anything to do. Only then it
// takes the lock and looks again. HasPending and GetVersions take none.
package gooselock

import (
	"context"
	"database/sql"

	gooselocks "github.com/pressly/goose/v3/lock"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/synclock"
)

// New returns a locker for goose.WithLocker. opts are those of [lock.Locker].Acquire. Providers may share it.
//
// A call of a provider waits until it has the lock, or its context ends; lock.MaxWait bounds that. It fails with the
// error of Acquire before it migrates. If its lease ended meanwhile, it fails with lock.ErrLost or lock.ErrMaxHold
// afterwards. It keeps the lock until it has migrated, also if its context ends before.
//
// New sends nothing. It fails with lock.ErrInvalidResource.
func New(locker lock.Locker, resource string, opts ...lock.AcquireOption) (gooselocks.Locker, error) {
	m, err := synclock.New(context.Background(), locker, resource, opts...)
	if err != nil {
		return nil, err
	}
	return database{m}, nil
}

// database is synclock's Mutex because goose lets the next call of a provider lock before the last one has unlocked.
type database struct{ m *synclock.Mutex }

func (d database) Lock(ctx context.Context, _ *sql.DB) error { return d.m.Acquire(ctx) }

func (d database) Unlock(context.Context, *sql.DB) error { return d.m.Release() }
