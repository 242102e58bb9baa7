package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// older makes a schema as the first versions of the tables had it, where somebody holds a lock.
func older(t *testing.T, db *pgxpool.Pool, version int) {
	t.Helper()
	exec := cmdtest.Executing(t, db)
	exec("DROP SCHEMA IF EXISTS lockscope CASCADE; CREATE SCHEMA lockscope; CREATE TABLE lockscope.migration " +
		"(version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
	tables, err := filepath.Glob("../../../lock/pglock/schema/[0-9]*.sql")
	cmdtest.Must(t, err)
	for i, file := range tables[:version] {
		sql, err := os.ReadFile(file)
		cmdtest.Must(t, err)
		exec("SET search_path = lockscope; " + string(sql) + "; RESET search_path")
		_, err = db.Exec(t.Context(), "INSERT INTO lockscope.migration (version) VALUES ($1)", i+1)
		cmdtest.Must(t, err)
	}
	exec("INSERT INTO lockscope.lock (key, token, expires) VALUES ('lock:job', 'first', now() + interval '1 hour')")
}

// TestInitUpgradesPostgres from each version: a lock that is held stays held.
func TestInitUpgradesPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	for version := 1; version < pglock.SchemaVersion(); version++ {
		older(t, db, version)
		o := command(t, "init", "--postgres", s.URL("postgres"), "--grant", "service", "-o", "json")
		o.Want(t, ui.ExitClean)
		for _, says := range []string{`"status": "upgraded"`, fmt.Sprintf(`"version_before": %d,`, version)} {
			if !strings.Contains(o.Out, says) {
				t.Errorf("from version %d: %s", version, o.Out)
			}
		}
		_, err := cmdtest.PostgresLocker(t, s, "second").Acquire(t.Context(), "job", lock.NoWait())
		if !errors.Is(err, lock.ErrHeld) {
			t.Errorf("from version %d: a lock that is held: %v", version, err)
		}
	}
	older(t, db, 1)
	command(t, "init", "--postgres", s.URL("postgres")).Want(t, ui.ExitClean, "upgraded from version 1 to ")
}

// TestInitPostgresAtOnce: one of several runs reports that it created the schema.
func TestInitPostgresAtOnce(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	cmdtest.Executing(t, cmdtest.Database(t, s))("DROP SCHEMA lockscope CASCADE")
	const runs = 3
	outcomes := make(chan cmdtest.Outcome, runs)
	for range runs {
		go func() { outcomes <- command(t, "init", "--postgres", s.URL("postgres"), "--grant", "service") }()
	}
	created := 0
	for range runs {
		o := <-outcomes
		o.Want(t, ui.ExitClean, "may take locks: service")
		if strings.Contains(o.Out, "created") {
			created++
		} else {
			o.Want(t, ui.ExitClean, "nothing to do")
		}
	}
	if created != 1 {
		t.Errorf("%d of %d runs created the schema", created, runs)
	}
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, s, "first"), "job")
}
