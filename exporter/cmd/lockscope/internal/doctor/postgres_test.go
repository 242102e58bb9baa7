package doctor

import (
	"errors"
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

// TestInitPostgres creates the schema, and does nothing the next time. Roles that it grants take locks.
func TestInitPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	exec := cmdtest.Executing(t, cmdtest.Database(t, s))
	exec("DROP SCHEMA lockscope CASCADE; CREATE ROLE reports LOGIN")
	args := []string{"init", "--postgres", s.URL("postgres")}
	command(t, append(args, "--grant", "service,reports")...).Want(t, ui.ExitClean, "schema lockscope on 127.0.0.1:",
		"created, version ", "may take locks: service, reports")
	held := cmdtest.Hold(t, cmdtest.PostgresLocker(t, s, "first"), "job")
	command(t, args...).Want(t, ui.ExitClean, "already, nothing to do")
	o := command(t, append(args, "-o", "json")...)
	o.Want(t, ui.ExitClean)
	var r schemaReport
	o.Decode(t, &r)
	if r.Status != Already || r.From != pglock.SchemaVersion() || r.To != r.From || r.Database != "lockscope" ||
		r.Granted == nil {
		t.Errorf("%+v", r)
	}
	cmdtest.Must(t, held.Extend(t.Context()))
	exec("GRANT EXECUTE ON FUNCTION lockscope.prune(interval, integer) TO PUBLIC")
	command(t, args...).Want(t, ui.ExitClean, "its functions and rights are upgraded")
	command(t, append(args, "--schema", "other")...).Want(t, ui.ExitClean, "schema other on", "created")
	exec("INSERT INTO lockscope.migration (version) VALUES (99)")
	command(t, args...).Want(t, ui.ExitError, "version 99", "use a newer lockscope")
}

// older makes a schema as the first versions of the tables had it, where somebody holds a lock.
func older(t *testing.T, db *pgxpool.Pool, version int) {
	t.Helper()
	exec := cmdtest.Executing(t, db)
	exec("DROP SCHEMA IF EXISTS lockscope CASCADE; CREATE SCHEMA lockscope; CREATE TABLE lockscope.migration " +
		"(version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
	tables, err := filepath.Glob("../../../../../lock/pglock/schema/[0-9]*.sql")
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
		var r schemaReport
		o.Decode(t, &r)
		if r.Status != Upgraded || r.From != version || r.To != pglock.SchemaVersion() {
			t.Errorf("from version %d: %+v", version, r)
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

func TestInitPostgresRefuses(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	exec := cmdtest.Executing(t, db)
	exec("CREATE ROLE poor LOGIN; CREATE ROLE reader LOGIN SUPERUSER; " +
		"ALTER ROLE reader SET default_transaction_read_only = on")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"no right to create": {
			[]string{s.URL("poor"), "--schema", "new"},
			[]string{"permission denied for database postgres", "a role with CREATE on the database"},
		},
		"a schema of others": {
			[]string{s.URL("poor")},
			[]string{"permission denied for schema lockscope", "use the owner of schema lockscope"},
		},
		"read-only": {[]string{s.URL("reader")}, []string{"read-only transaction", "give the primary"}},
		"no such role": {
			[]string{s.URL("postgres"), "--grant", "nobody"},
			[]string{`role "nobody"`, "does not exist", "correct --grant"},
		},
		"no such user": {[]string{s.URL("nobody")}, []string{`role "nobody" does not exist`}},
		"not a name":   {[]string{s.URL("postgres"), "--schema", `a"; DROP`}, []string{"schema"}},
		"server down": {
			[]string{"postgres://u:s3cr3t@127.0.0.1:1/db"},
			[]string{"postgresql 127.0.0.1:1", "refused", "check that the server is up"},
		},
		"not a URL": {[]string{"postgres://u:s3cr3t@/%"}, []string{"--postgres is neither a URL"}},
		"Redis, too": {
			[]string{s.URL("postgres"), "--redis", "127.0.0.1:1"},
			[]string{"run init for each system"},
		},
		"a flag for Redis":     {[]string{s.URL("postgres"), "--if-new"}, []string{"--if-new is for Redis"}},
		"a grant in no system": {[]string{"", "--grant", "service"}, []string{"need --postgres"}},
	} {
		o := command(t, append([]string{"init", "--postgres"}, c.args...)...)
		o.Want(t, ui.ExitError, c.says...)
		o.WantNot(t, "s3cr3t")
		if o.Out != "" || strings.Count(o.Err, "\n") != 1 {
			t.Errorf("%s: not one line on standard error: %s%s", name, o.Out, o.Err)
		}
	}
	var there bool
	cmdtest.Must(t, db.QueryRow(t.Context(), "SELECT to_regnamespace('new') IS NOT NULL").Scan(&there))
	if there {
		t.Error("a refused run created the schema")
	}
}
