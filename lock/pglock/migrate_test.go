package pglock_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/pglock"
)

// TestMigrateFromEachVersion keeps who holds and who waits, in their order.
func TestMigrateFromEachVersion(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(t.Context(), sql)
		must(t, err)
	}
	versions, err := filepath.Glob("schema/[0-9]*.sql")
	must(t, err)
	for from := range len(versions) {
		exec(
			"DROP SCHEMA lockscope CASCADE; CREATE SCHEMA lockscope; CREATE TABLE lockscope.migration (version int " +
				"PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
		for i, file := range versions[:from+1] {
			sql, err := os.ReadFile(file)
			must(t, err)
			exec("SET search_path = lockscope; " + string(sql) + "; RESET search_path")
			_, err = db.Exec(t.Context(), "INSERT INTO lockscope.migration (version) VALUES ($1)", i+1)
			must(t, err)
		}
		exec(`INSERT INTO lockscope.lock (key, token, expires) VALUES ('k', 'first', now() + interval '1 hour');
			INSERT INTO lockscope.waiter (key, waiter, ticket, seen) VALUES ('k', 'b', 2, now()), ('k', 'a', 1, now())`)
		m, err := pglock.Upgrade(t.Context(), db, pglock.DefaultSchema)
		must(t, err)
		if want := (pglock.Migration{From: from + 1, To: len(versions), Functions: true}); m != want {
			t.Errorf("%+v, want %+v", m, want)
		}

		c := calls{t, db}
		if code, _ := c.acquire("other", time.Minute); code != 0 {
			t.Errorf("from version %d: a lock that was held is granted: code %d", from+1, code)
		}
		if what := c.number("SELECT what FROM lockscope.release('k', 'first', 0, 60000, '', 0, '')"); what != 1 {
			t.Errorf("from version %d: its holder could not release it: %d", from+1, what)
		}
		if named := c.number("SELECT count(*) FROM lockscope.lock WHERE next = 'a'"); named != 1 {
			t.Errorf("from version %d: the first in the queue was not named", from+1)
		}
	}
}

// TestUpgrade reports what it changed, once, whoever else upgrades at the same time.
func TestUpgrade(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(t.Context(), sql)
		must(t, err)
	}
	version := pglock.SchemaVersion()
	none := pglock.Migration{From: version, To: version}
	created := pglock.Migration{To: version, Functions: true}
	renewed := pglock.Migration{From: version, To: version, Functions: true}
	for name, c := range map[string]struct {
		before string
		want   pglock.Migration
	}{
		"no schema":       {"DROP SCHEMA lockscope CASCADE", created},
		"an empty schema": {"DROP SCHEMA lockscope CASCADE; CREATE SCHEMA lockscope", created},
		"another function": {"CREATE OR REPLACE FUNCTION lockscope.after(n timestamptz, ms bigint) RETURNS timestamptz " +
			"LANGUAGE sql AS $$ SELECT n $$", renewed},
		"more rights":   {"GRANT EXECUTE ON FUNCTION lockscope.prune(interval, integer) TO PUBLIC", renewed},
		"nothing to do": {"", none},
	} {
		must(t, pglock.Migrate(t.Context(), db, pglock.DefaultSchema))
		exec(c.before)
		const callers = 3
		seen := make(chan pglock.Migration, callers)
		for range callers {
			go func() {
				m, err := pglock.Upgrade(t.Context(), db, pglock.DefaultSchema)
				if err != nil {
					t.Error(err)
				}
				seen <- m
			}()
		}
		all := map[pglock.Migration]int{}
		for range callers {
			all[<-seen]++
		}
		if all[c.want] == 0 || all[none] < callers-1 {
			t.Errorf("%s: %v, want %+v once", name, all, c.want)
		}
	}
}

// TestUpgradeAsOwner of a schema that somebody else created for the role, which may create none.
func TestUpgradeAsOwner(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	_, err := db.Exec(t.Context(), "CREATE ROLE owner LOGIN; CREATE SCHEMA own AUTHORIZATION owner")
	must(t, err)
	owner := pool(t, s.URL("owner"))
	must(t, pglock.Migrate(t.Context(), owner, "own"))
	must(t, pglock.Migrate(t.Context(), owner, "own"))
	if err := pglock.Migrate(t.Context(), owner, "new"); err == nil {
		t.Error("it may create a schema")
	}
}

// TestUpgradeAndGrantAtOnce, as several processes do that start together.
func TestUpgradeAndGrantAtOnce(t *testing.T) {
	s := server(t)
	_, err := pool(t, s.URL("postgres")).Exec(t.Context(), "DROP SCHEMA lockscope CASCADE")
	must(t, err)
	var all sync.WaitGroup
	for range 4 {
		db := pool(t, s.URL("postgres"))
		all.Go(func() {
			for range 5 {
				if err := pglock.Migrate(t.Context(), db, pglock.DefaultSchema); err != nil {
					t.Error(err)
				}
				if err := pglock.Grant(t.Context(), db, pglock.DefaultSchema, "service"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must(t, acquire(t, locker(t, s), "job").Release(t.Context()))
}
