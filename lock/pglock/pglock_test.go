package pglock_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is a server on which a role that owns nothing may take locks.
func server(t testing.TB, options ...string) *pgproc.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, err := pgproc.Start(ctx, options...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	db := pool(t, s.URL("postgres"))
	must(t, pglock.Migrate(ctx, db, pglock.DefaultSchema))
	_, err = db.Exec(ctx, "CREATE ROLE service LOGIN")
	must(t, err)
	must(t, pglock.Grant(ctx, db, pglock.DefaultSchema, "service"))
	return s
}

func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(context.Background(), url)
	must(t, err)
	t.Cleanup(db.Close)
	return db
}

func locker(t testing.TB, s *pgproc.Server, opts ...lock.Option) *lock.Engine {
	t.Helper()
	l, err := pglock.Open(s.URL("service"), append([]lock.Option{lock.WithNodeTimeout(2 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func TestConformance(t *testing.T) {
	s := server(t)
	locktest.TestLocker(t, func(t testing.TB) lock.Locker { return locker(t, s, lock.WithNodeTimeout(500*time.Millisecond)) },
		locktest.WithTTL(2*time.Second))
}
