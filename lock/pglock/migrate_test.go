package pglock_test

import (
	"os"
	"path/filepath"
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
		must(t, pglock.Migrate(t.Context(), db, pglock.DefaultSchema))

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
