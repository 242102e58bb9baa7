package pglock_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"github.com/lockscope/lockscope/lock/fencing"
)

// TestFencingGuard of package fencing on a PostgreSQL server.
func TestFencingGuard(t *testing.T) {
	db, err := sql.Open("pgx", server(t).URL("postgres"))
	must(t, err)
	defer db.Close()
	for range 2 {
		_, err = db.ExecContext(t.Context(), fencing.Migration)
		must(t, err)
	}
	begin := func() *sql.Tx {
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		return tx
	}
	const resource = "order:1001"
	undone := begin()
	must(t, fencing.Guard(t.Context(), undone, resource, 100))
	must(t, undone.Rollback())

	first, second := begin(), begin()
	must(t, fencing.Guard(t.Context(), first, resource, 7))
	must(t, fencing.Guard(t.Context(), first, resource, 7))
	late := make(chan error, 1)
	go func() { late <- fencing.Guard(t.Context(), second, resource, 6) }()
	eventually(t, "the second transaction waits for the first", func() bool {
		var waiting int
		must(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE '%lockscope_fences%'`).Scan(&waiting))
		return waiting == 1
	})
	must(t, first.Commit())
	err = <-late
	want := fencing.StaleError{Resource: resource, Fence: 6, Seen: 7}
	if stale, ok := errors.AsType[*fencing.StaleError](err); !ok || *stale != want || !errors.Is(err, fencing.ErrStale) {
		t.Errorf("a lower token: %v", err)
	}
	must(t, second.Rollback())

	third := begin()
	must(t, fencing.Guard(t.Context(), third, "order:2", 1)) // another resource
	must(t, fencing.Guard(t.Context(), third, resource, 8))
	must(t, third.Commit())
}

// TestFencingGuardIsolation: with a snapshot, Guard fails with 40001 where another transaction has written the token
// meanwhile. Repeated, the transaction passes or is told that it is stale.
func TestFencingGuardIsolation(t *testing.T) {
	db, err := sql.Open("pgx", server(t).URL("postgres"))
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), fencing.Migration)
	must(t, err)
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
		for i, fence := range []uint64{6, 7, 8} { // a lower token than the other's 7, the same, a higher one
			resource := fmt.Sprint(level, fence)
			begin := func() *sql.Tx {
				tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				must(t, err)
				_, err = tx.ExecContext(t.Context(), "SELECT count(*) FROM lockscope_fences") // takes the snapshot
				must(t, err)
				return tx
			}
			for _, before := range []uint64{5, 7} { // the other inserts the row, and updates it
				late, other := begin(), begin()
				must(t, fencing.Guard(t.Context(), other, resource, before))
				must(t, other.Commit())
				err := fencing.Guard(t.Context(), late, resource, fence)
				if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "40001" {
					t.Errorf("%v, %d after %d: %v, want 40001", level, fence, before, err)
				}
				must(t, late.Rollback())
			}
			again := begin()
			if err := fencing.Guard(t.Context(), again, resource, fence); errors.Is(err, fencing.ErrStale) != (i == 0) ||
				i > 0 && err != nil {
				t.Errorf("%v, %d, repeated: %v", level, fence, err)
			}
			must(t, again.Rollback())
		}
	}
}
