package pglock_test

import (
	"database/sql"
	"errors"
	"testing"

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
