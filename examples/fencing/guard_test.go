package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/fencing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGuard of package fencing on SQLite; package pglock has the same on PostgreSQL.
func TestGuard(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "guard.db"))
	must(t, err)
	defer db.Close()
	for range 2 {
		_, err = db.ExecContext(t.Context(), fencing.Migration)
		must(t, err)
	}
	testGuard(t, db, fencing.Guard)
}

// testGuard has names that most collations would take for the same.
func testGuard(t *testing.T, db *sql.DB, guard func(context.Context, fencing.Tx, string, uint64) error) {
	t.Helper()
	for _, c := range []struct {
		resource     string
		fence        uint64
		commit, late bool
	}{
		{"order:1001", 9, false, false}, // rolled back: it bars nobody
		{"order:1001", 7, true, false},
		{"order:1001", 7, true, false},
		{"order:1001", 6, true, true},
		{"Order:1001", 1, true, false},
		{"order:1001 ", 1, true, false},
		{strings.Repeat("ö", 256), 1, true, false},
		{"order:1001", 8, true, false},
		{"order:1001", 7, true, true},
	} {
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		err = guard(t.Context(), tx, c.resource, c.fence)
		if errors.Is(err, fencing.ErrStale) != c.late || !c.late && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.commit && !c.late {
			must(t, tx.Commit())
		} else {
			must(t, tx.Rollback())
		}
	}
}
