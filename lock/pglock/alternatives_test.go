package pglock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// What PostgreSQL has of its own, and where it ends. README's table is this file.

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func scan[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	must(t, conn.QueryRow(t.Context(), sql, args...).Scan(&v))
	return v
}

// TestAdvisoryLockEndsWithItsSession: whoever holds it is told by nobody when the connection is gone, and has no number
// by which a store could refuse what is written too late.
func TestAdvisoryLockEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := server(t)
	holder, other := connect(t, s.URL("postgres")), connect(t, s.URL("postgres"))
	if !scan[bool](t, holder, "SELECT pg_try_advisory_lock(42)") ||
		scan[bool](t, other, "SELECT pg_try_advisory_lock(42)") {
		t.Fatal("it is not exclusive")
	}
	// A failover, a proxy's idle timeout, or somebody who cleans up.
	scan[bool](t, other, "SELECT pg_terminate_backend($1, 5000)", int64(holder.PgConn().PID()))
	if !scan[bool](t, other, "SELECT pg_try_advisory_lock(42)") {
		t.Fatal("it outlived its session")
	}
	if holder.IsClosed() {
		t.Fatal("the client has noticed without a call: the check looks at nothing")
	}
}

// TestRowLockHasNoEnd: SELECT ... FOR UPDATE is held for as long as its transaction stands open, also by a process that
// hangs, and nobody is told how long that is, or by whom. What reads a snapshot meanwhile keeps every table of the
// database from being cleaned up.
func TestRowLockHasNoEnd(t *testing.T) {
	t.Parallel()
	s := server(t)
	holder, other := connect(t, s.URL("postgres")), connect(t, s.URL("postgres"))
	_, err := holder.Exec(t.Context(), "CREATE TABLE job (name text PRIMARY KEY); INSERT INTO job VALUES ('nightly')")
	must(t, err)
	tx, err := holder.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	must(t, err)
	var name string
	must(t, tx.QueryRow(t.Context(), "SELECT name FROM job FOR UPDATE").Scan(&name))

	const skip = "SELECT count(*) FROM (SELECT 1 FROM job FOR UPDATE SKIP LOCKED) AS free"
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if scan[int](t, other, skip) != 0 {
			t.Fatal("it is not exclusive")
		}
	}
	held := scan[int](t, other,
		"SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND backend_xmin IS NOT NULL")
	if held != 1 {
		t.Errorf("%d transactions hold back the clean-up, want the lock's", held)
	}
	must(t, tx.Rollback(t.Context()))
	if scan[int](t, other, skip) != 1 {
		t.Error("it outlived its transaction")
	}
}
