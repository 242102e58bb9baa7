package pglock_test

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// TestReadSchema tells what a role lacks, whatever it may do.
func TestReadSchema(t *testing.T) {
	s := server(t)
	owner := pool(t, s.URL("postgres"))
	read := func(user, schema string) pglock.Schema {
		t.Helper()
		found, err := pglock.ReadSchema(t.Context(), pool(t, s.URL(user)), schema)
		must(t, err)
		return found
	}
	exec := func(sql string) {
		t.Helper()
		_, err := owner.Exec(t.Context(), sql)
		must(t, err)
	}
	exec("CREATE ROLE stranger LOGIN")
	if got := read("service", pglock.DefaultSchema); !got.Present || !got.Usage || len(got.Missing)+
		len(got.Denied) != 0 || got.Version != 0 {
		t.Errorf("a role with what Grant gives: %+v", got)
	}
	if got := read("postgres", pglock.DefaultSchema); got.Version != pglock.SchemaVersion() || got.Version < 1 {
		t.Errorf("the owner: %+v", got)
	}
	if got := read("stranger", pglock.DefaultSchema); !got.Present || got.Usage {
		t.Errorf("a stranger: %+v", got)
	}
	if got := read("postgres", "missing"); got.Present {
		t.Errorf("no such schema: %+v", got)
	}
	exec("DROP FUNCTION lockscope.prune(interval, integer)")
	exec("GRANT USAGE ON SCHEMA lockscope TO stranger")
	if got := read("stranger", pglock.DefaultSchema); !slices.Equal(got.Missing,
		[]string{"prune(interval, integer)"}) || len(got.Denied) != 18 ||
		!slices.Contains(got.Denied, "view held") {
		t.Errorf("a stranger, of an older schema: %+v", got)
	}
	_, err := pglock.ReadSchema(t.Context(), owner, "Bad")
	wantErr(t, err, lock.ErrInvalidOption)
}
