package pglock_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/pglock"
)

// waits waits for a lock that another engine holds, until the end of the test.
func waits(ctx context.Context, t *testing.T, l lock.Locker, resource string) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.Acquire(ctx, resource)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// listening are the process ids of sessions that listen, with this application_name.
func listening(t *testing.T, db *pgxpool.Pool, name string) (pids []int32) {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = $1", name)
	must(t, err)
	pids, err = pgx.CollectRows(rows, pgx.RowTo[int32])
	must(t, err)
	return pids
}

// TestTheListenerConnectsAsThePoolDoes: the pool's BeforeConnect, which may set a password that changes, is asked for the
// listener's connection, too.
func TestTheListenerConnectsAsThePoolDoes(t *testing.T) {
	s := server(t)
	config, err := pgxpool.ParseConfig(s.URL("service"))
	must(t, err)
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.RuntimeParams["application_name"] = "by-the-hook"
		return nil
	}
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(db.Close)
	held := acquire(t, locker(t, s), "job")
	waits(t.Context(), t, must2(pglock.New(db))(t), "job")
	eventually(t, "a session of that name listens", func() bool { return len(listening(t, db, "by-the-hook")) == 1 })
	must(t, held.Release(t.Context()))
}

// TestAListenerThatCannotConnectSaysWhy, and holds nothing against the node.
func TestAListenerThatCannotConnectSaysWhy(t *testing.T) {
	s := server(t)
	var told atomic.Pointer[string]
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
		if e.Op == lock.OpSubscribe && e.Err != nil {
			told.Store(new(e.Err.Error()))
		}
	}})
	held := acquire(t, locker(t, s), "job")
	waits(ctx, t, locker(t, s, pglock.WithListener("postgres://nobody-there@127.0.0.1:1/x")), "job")
	eventually(t, "the reason is told", func() bool { why := told.Load(); return why != nil && strings.Contains(*why, "refused") })
	must(t, held.Release(t.Context()))
}

// TestTheListenerLeavesAFormerPrimary: its connection stays open when the server turns read-only, and nobody notifies there.
func TestTheListenerLeavesAFormerPrimary(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	held := acquire(t, locker(t, s), "job")
	waits(t.Context(), t, locker(t, s), "job")
	var before []int32
	eventually(t, "it listens", func() bool { before = listening(t, db, ""); return len(before) == 1 })
	for _, sql := range []string{"ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"} {
		_, err := db.Exec(t.Context(), sql)
		must(t, err)
	}
	eventually(t, "that session is over", func() bool {
		now := listening(t, db, "")
		return len(now) == 0 || now[0] != before[0]
	})
	_ = held.Release(t.Context()) // of a server that refuses
}
