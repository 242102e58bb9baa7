package pglock

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed schema/*.sql
var files embed.FS

// functionFiles are run by every migration.
var functionFiles = []string{
	"schema/functions.sql", "schema/functions_slots.sql", "schema/functions_shared.sql",
	"schema/functions_revoke.sql",
}

// entries are the functions that the driver calls. The others are internal to the schema.
var entries = []string{
	"acquire(text, text, text, bigint, bigint, bigint, text, bigint, text, bigint, bigint, boolean)",
	"raise(text, text, bigint, bigint)",
	"extend(text, text, bigint, boolean, bigint, text, boolean)",
	"release(text, text, bigint, bigint, text, bigint, text)",
	"leave(text, text, bigint)",
	"prune(interval, integer)",
	"peek(text, bigint, boolean)",
	"acquire_slot(text, integer, bigint, text, text, text, bigint, bigint, bigint, text, bigint, text, bigint, bigint, " +
		"boolean)",
	"extend_slot(text, integer, integer, bigint, text, text, bigint, boolean, bigint, text, boolean, bigint, boolean)",
	"resize(text, integer, integer, bigint)",
	"acquire_shared(text, text, boolean, text, bigint, bigint, text, bigint, boolean, text, bigint, bigint, bigint, " +
		"boolean)",
	"extend_reader(text, text, bigint, boolean, bigint, text)",
	"release_shared(text, text, boolean, bigint, bigint, text, bigint, text)",
	"leave_shared(text, text, bigint)",
	"revoke_lease(text, text, text, bigint, bigint, boolean)",
	"revoke_readers(text, text[], text, bigint, bigint, boolean)",
	"mark_of(text, text)",
}

// Beginner starts a transaction: a *pgx.Conn or a *pgxpool.Pool.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Migrate creates the schema, or upgrades it to this version of the package. It runs in one
// transaction, so it takes effect completely or not at all. Several processes may run it at the same
// time, and again: later runs only recreate the functions. Locks that are held stay held.
//
// The role of db needs the CREATE privilege on the database, or owns the schema already. It owns what it
// creates. Roles that take locks need [Grant]. schema is usually [DefaultSchema].
func Migrate(ctx context.Context, db Beginner, schema string) error {
	_, err := Upgrade(ctx, db, schema)
	return err
}

// Migration is what one call of [Upgrade] changed.
type Migration struct {
	From, To  int  // versions of the tables before and after; From is 0 if there were none
	Functions bool // functions, or the rights on them, are others than before
}

// Upgrade does what [Migrate] does, and reports what it changed. Of several calls at the same time,
// the first one reports the change and the others none.
func Upgrade(ctx context.Context, db Beginner, schema string) (m Migration, err error) {
	if err := validSchema(schema); err != nil {
		return Migration{}, err
	}
	err = inTransaction(ctx, db, "migrate", func(tx pgx.Tx) error {
		m, err = migrate(ctx, tx, schema)
		return err
	})
	if err != nil {
		return Migration{}, err
	}
	return m, nil
}

func migrate(ctx context.Context, tx pgx.Tx, schema string) (m Migration, err error) {
	name := pgx.Identifier{schema}.Sanitize()
	if err := createSchema(ctx, tx, name); err != nil {
		return m, err
	}
	before, err := functions(ctx, tx, name)
	if err != nil {
		return m, err
	}
	if m.From, m.To, err = migrateTables(ctx, tx); err != nil {
		return m, err
	}
	if err := createFunctions(ctx, tx, name); err != nil {
		return m, err
	}
	after, err := functions(ctx, tx, name)
	m.Functions = after != before
	return m, err
}

// lockOut keeps other migrations and grants waiting until the transaction ends: the server refuses to change a function
// that another transaction changes ("tuple concurrently updated").
func lockOut(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('lockscope migration', 0))")
	return err
}

// createSchema leaves CREATE SCHEMA IF NOT EXISTS out: the owner of a schema need not have the right that it asks for.
func createSchema(ctx context.Context, tx pgx.Tx, name string) error {
	if err := lockOut(ctx, tx); err != nil {
		return err
	}
	var there bool
	err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", noPrepare, name).Scan(&there)
	if err != nil {
		return err
	}
	steps := []string{
		"SET LOCAL search_path = " + name,
		"CREATE TABLE IF NOT EXISTS " + name + ".migration (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
	}
	if !there {
		steps = append([]string{"CREATE SCHEMA " + name}, steps...)
	}
	for _, sql := range steps {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// functions is a digest of the definitions of all functions, and of the rights on them.
func functions(ctx context.Context, tx pgx.Tx, name string) (digest string, err error) {
	err = tx.QueryRow(ctx, "SELECT coalesce(md5(string_agg(pg_get_functiondef(oid) || coalesce(proacl::text, ''), ' ' "+
		"ORDER BY oid)), '') FROM pg_proc WHERE pronamespace = to_regnamespace($1)", noPrepare, name).Scan(&digest)
	return digest, err
}

func createFunctions(ctx context.Context, tx pgx.Tx, name string) error {
	for _, file := range functionFiles {
		if err := runFile(ctx, tx, file); err != nil {
			return err
		}
	}
	// The functions run with their owner's rights and a search path of their own. So roles
	// that take locks need no right on a table, and tables of another schema cannot shadow ours.
	for _, f := range entries {
		_, err := tx.Exec(ctx, "ALTER FUNCTION "+f+" SECURITY DEFINER SET search_path = "+name+", pg_temp")
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA "+name+" FROM PUBLIC")
	return err
}

// migrateTables runs the numbered files that were not run on this schema yet. It returns the version before and after.
func migrateTables(ctx context.Context, tx pgx.Tx) (from, to int, err error) {
	err = tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migration", noPrepare).Scan(&from)
	if err != nil {
		return 0, 0, err
	}
	tables, err := fs.Glob(files, "schema/[0-9]*.sql")
	if err != nil {
		return 0, 0, err
	}
	if from > len(tables) {
		return 0, 0, fmt.Errorf("schema has version %d, but this package knows only %d: use a newer lockscope", from,
			len(tables))
	}
	for i, file := range tables[from:] {
		if err := runFile(ctx, tx, file); err != nil {
			return 0, 0, err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO migration (version) VALUES ($1)", noPrepare, from+i+1); err != nil {
			return 0, 0, err
		}
	}
	return from, len(tables), nil
}

func runFile(ctx context.Context, tx pgx.Tx, file string) error {
	sql, err := files.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := tx.Conn().PgConn().Exec(ctx, string(sql)).ReadAll(); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(file, "schema/"), err)
	}
	return nil
}

// Grant gives a role the rights that taking locks needs: to use the schema and call its functions. The
// role can also read the views held and waiting, which list holders and waiters without any
// token. Call it as the owner of the schema. It may be called again, and by several processes at the same time.
func Grant(ctx context.Context, db Beginner, schema, role string) error {
	if err := validSchema(schema); err != nil {
		return err
	}
	name, to := pgx.Identifier{schema}.Sanitize(), pgx.Identifier{role}.Sanitize()
	return inTransaction(ctx, db, "grant", func(tx pgx.Tx) error {
		if err := lockOut(ctx, tx); err != nil {
			return err
		}
		grants := []string{"GRANT USAGE ON SCHEMA " + name, "GRANT SELECT ON " + name + ".held, " + name + ".waiting"}
		for _, f := range entries {
			grants = append(grants, "GRANT EXECUTE ON FUNCTION "+name+"."+f)
		}
		for _, sql := range grants {
			if _, err := tx.Exec(ctx, sql+" TO "+to); err != nil {
				return err
			}
		}
		return nil
	})
}

func inTransaction(ctx context.Context, db Beginner, what string, do func(pgx.Tx) error) error {
	switch err := pgx.BeginFunc(ctx, db, do); {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "statement pooling"):
		return fmt.Errorf("pglock: %s: the pooler allows no transactions: connect to the server itself: %w", what, err)
	default:
		return fmt.Errorf("pglock: %s: %w", what, err)
	}
}
