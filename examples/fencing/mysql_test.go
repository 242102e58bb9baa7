package main

import (
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/lockscope/lockscope/lock/fencing"
)

func openMariaDB(t *testing.T, params string) *sql.DB {
	t.Helper()
	dsn, ok := startMariaDB(t)
	if !ok {
		t.Fatal("no MariaDB server is installed: apt-get install mariadb-server-core")
	}
	db, err := sql.Open("mysql", dsn+params)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	for range 2 {
		_, err = db.ExecContext(t.Context(), fencing.MigrationMySQL)
		must(t, err)
	}
	return db
}

// TestGuardMySQL on a MariaDB server, whichever way the driver sends arguments and counts rows.
func TestGuardMySQL(t *testing.T) {
	for _, params := range []string{"", "?interpolateParams=true&clientFoundRows=true"} {
		t.Run(params, func(t *testing.T) {
			db := openMariaDB(t, params)
			testGuard(t, db, fencing.GuardMySQL)
			testOverlap(t, db)
		})
	}
}

// testOverlap: a late transaction that has begun earlier, and has a snapshot from before, waits and is refused.
func testOverlap(t *testing.T, db *sql.DB) {
	first, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	second, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	var rows int
	must(t, second.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM lockscope_fences").Scan(&rows))
	must(t, fencing.GuardMySQL(t.Context(), first, "order:2", 7))
	late := make(chan error)
	go func() { late <- fencing.GuardMySQL(t.Context(), second, "order:2", 6) }()
	must(t, first.Commit())
	want := fencing.StaleError{Resource: "order:2", Fence: 6, Seen: 7}
	if stale, ok := errors.AsType[*fencing.StaleError](<-late); !ok || *stale != want {
		t.Errorf("%+v, want %+v", stale, want)
	}
	must(t, second.Rollback())
}

// TestGuardMySQLConcurrently: of many tokens in any order the highest stays.
func TestGuardMySQLConcurrently(t *testing.T) {
	db := openMariaDB(t, "")
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				fence := uint64(1 + i*writers + (w*5)%writers)
				for !passes(t, db, fence) {
				}
			}
		})
	}
	wg.Wait()
	var seen uint64
	must(t, db.QueryRowContext(t.Context(), "SELECT fence FROM lockscope_fences").Scan(&seen))
	if seen != writers*each {
		t.Errorf("the highest token is %d, want %d", seen, writers*each)
	}
}

// passes tries a transaction once. It returns false after a deadlock.
func passes(t *testing.T, db *sql.DB, fence uint64) bool {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Error(err)
		return true
	}
	err = fencing.GuardMySQL(t.Context(), tx, "order:3", fence)
	if err == nil {
		err = tx.Commit()
	} else {
		err = errors.Join(err, tx.Rollback())
	}
	if deadlock, ok := errors.AsType[*mysql.MySQLError](err); ok && deadlock.Number == 1213 {
		return false
	}
	if err != nil && !errors.Is(err, fencing.ErrStale) {
		t.Error(err)
	}
	return true
}
