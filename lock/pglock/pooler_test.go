package pglock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// bouncer is a pooler before a server, whose connections to it are fewer than its clients.
func bouncer(t *testing.T, s *pgproc.Server, mode string, connections int) *pgproc.Bouncer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := pgproc.StartBouncer(ctx, s, mode, connections)
	must(t, err)
	t.Cleanup(func() { must(t, b.Stop()) })
	return b
}

// TestThroughAPooler locks in each pool mode with pgx as it is by default: by a connection string and by the service's
// own pool.
func TestThroughAPooler(t *testing.T) {
	s := server(t)
	// With two connections in session mode a third locker would wait for ever: each needs one, and one more to listen.
	for mode, connections := range map[string]int{pgproc.SessionPooling: 40, pgproc.TransactionPooling: 2,
		pgproc.StatementPooling: 2} {
		t.Run(mode, func(t *testing.T) {
			b := bouncer(t, s, mode, connections)
			open := func(opts ...lock.Option) *engine.Engine {
				l, err := pglock.New(pool(t, b.URL()),
					append([]lock.Option{lock.WithNodeTimeout(2 * time.Second)}, opts...)...)
				must(t, err)
				t.Cleanup(func() { must(t, l.Close()) })
				return l
			}
			t.Run("reading", func(t *testing.T) {
				lease := acquire(t, open(), "read")
				defer func() { must(t, lease.Release(t.Context())) }()
				for range 3 { // each through a pool of its own, whose names of statements are those of the others
					db := pool(t, b.URL())
					held, err := pglock.ReadHeldLocks(t.Context(), db, pglock.DefaultSchema)
					if err != nil || len(held) != 1 {
						t.Fatalf("%v, %v", held, err)
					}
					_, err = pglock.ReadWaiting(t.Context(), db, pglock.DefaultSchema)
					must(t, err)
					schema, err := pglock.ReadSchema(t.Context(), db, pglock.DefaultSchema)
					if err != nil || len(schema.Missing)+len(schema.Denied) > 0 {
						t.Fatalf("%+v, %v", schema, err)
					}
				}
			})
			for name, opt := range map[string]lock.Option{"listening": pglock.WithListener(s.URL("service")),
				"looking": pglock.WithoutListener()} {
				t.Run(name, func(t *testing.T) {
					contend(t, []lock.Locker{open(opt), open(opt), open(opt)}, 4, 10)
				})
			}
		})
	}
}

// TestAWaiterBehindAPooler without a way to listen says so, and is served all the same.
func TestAWaiterBehindAPooler(t *testing.T) {
	s := server(t)
	b := bouncer(t, s, pgproc.TransactionPooling, 2)
	var told error
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
		if e.Op == lock.OpSubscribe {
			told = e.Err
		}
	}})
	open := func() *engine.Engine {
		l, err := pglock.Open(b.URL(), lock.WithNodeTimeout(2*time.Second))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	l := open()
	lease := acquire(t, l, "a")
	other, err := open(), lock.ErrNoQuorum
	for tries := 0; errors.Is(err, lock.ErrNoQuorum) && tries < 10; tries++ { // the last attempt of a wait may be cut short
		_, err = other.Acquire(ctx, "a", lock.MaxWait(time.Second))
	}
	wantErr(t, err, lock.ErrMaxWait, lock.ErrHeld)
	wantErr(t, told, driver.ErrMisconfigured)
	if !strings.Contains(told.Error(), "WithListener") {
		t.Errorf("no remedy: %v", told)
	}
	must(t, lease.Release(t.Context()))
}

// TestAPoolerSharesAdvisoryLocks: what a driver with session locks would do there.
func TestAPoolerSharesAdvisoryLocks(t *testing.T) {
	b := bouncer(t, server(t), pgproc.TransactionPooling, 2)
	granted := 0
	for range 2 {
		conn := connect(t, b.URL())
		if scan[bool](t, conn, "SELECT pg_try_advisory_lock(42)", pgx.QueryExecModeExec) {
			granted++
		}
	}
	if granted != 2 {
		t.Errorf("%d of two clients have the lock: this is not transaction mode", granted)
	}
}

// TestMigrateThroughAPooler works where transactions do.
func TestMigrateThroughAPooler(t *testing.T) {
	s := server(t)
	_, err := connect(t, s.URL("postgres")).Exec(t.Context(),
		"GRANT CREATE ON DATABASE postgres TO service; CREATE ROLE other LOGIN")
	must(t, err)
	b := bouncer(t, s, pgproc.TransactionPooling, 1)
	for range 3 {
		db := pool(t, b.URL())
		must(t, pglock.Migrate(t.Context(), db, "pooled"))
		must(t, pglock.Grant(t.Context(), db, "pooled", "other"))
	}
	if err := pglock.Migrate(t.Context(), pool(t, bouncer(t, s, pgproc.StatementPooling, 1).URL()),
		"pooled"); err == nil ||
		!strings.Contains(err.Error(), "the server itself") {
		t.Errorf("in statement mode: %v", err)
	}
}
