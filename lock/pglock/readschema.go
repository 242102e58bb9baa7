package pglock

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// Schema is the state of a schema as one role sees it.
type Schema struct {
	Present bool
	Usage   bool // the role may use the schema; if false, the fields below are empty
	// Version is the version of the tables; 0 if the role may not read it. [Grant] does not
	// allow it.
	Version int
	// Missing lists the declarations of functions that the driver calls but that do not exist.
	Missing []string
	// Denied lists the functions and views that exist but that the role may not use.
	Denied []string
}

// SchemaVersion returns the version that this package's [Migrate] creates.
func SchemaVersion() int {
	tables, _ := fs.Glob(files, "schema/[0-9]*.sql") // the pattern is right
	return len(tables)
}

// ReadSchema reports whether the role that db connects as can take locks. It changes nothing. It
// fails only if the server could not be asked; a missing schema is not an error.
func ReadSchema(ctx context.Context, db Querier, schema string) (s Schema, err error) {
	if err := validSchema(schema); err != nil {
		return s, err
	}
	name := pgx.Identifier{schema}.Sanitize()
	s.Present, s.Usage, err = readPair(ctx, db,
		"SELECT to_regnamespace($1) IS NOT NULL, "+
			"coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'USAGE'), false)", name)
	if err != nil || !s.Usage {
		return s, err
	}
	for _, f := range entries {
		there, may, err := readPair(ctx, db,
			"SELECT to_regprocedure($1) IS NOT NULL, "+
				"coalesce(has_function_privilege(to_regprocedure($1)::oid, 'EXECUTE'), false)", name+"."+f)
		switch {
		case err != nil:
			return s, err
		case !there:
			s.Missing = append(s.Missing, f)
		case !may:
			s.Denied = append(s.Denied, "function "+f)
		}
	}
	return s, s.readTables(ctx, db, schema)
}

func (s *Schema) readTables(ctx context.Context, db Querier, schema string) error {
	name := pgx.Identifier{schema}.Sanitize()
	const may = "SELECT to_regclass($1) IS NOT NULL, " +
		"coalesce(has_table_privilege(to_regclass($1)::oid, 'SELECT'), false)"
	for _, view := range []string{"held", "waiting"} {
		there, may, err := readPair(ctx, db, may, name+"."+view)
		switch {
		case err != nil:
			return err
		case !there:
			s.Missing = append(s.Missing, "view "+view)
		case !may:
			s.Denied = append(s.Denied, "view "+view)
		}
	}
	there, readable, err := readPair(ctx, db, may, name+".migration")
	if err != nil || !there || !readable {
		return err
	}
	versions, err := read(ctx, db, schema, "SELECT coalesce(max(version), 0) FROM %s.migration", pgx.RowTo[int])
	if err == nil && len(versions) == 1 {
		s.Version = versions[0]
	}
	return err
}

func readPair(ctx context.Context, db Querier, sql string, args ...any) (a, b bool, err error) {
	rows, err := db.Query(ctx, sql, append([]any{noPrepare}, args...)...)
	if err == nil {
		_, err = pgx.CollectExactlyOneRow(rows,
			func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, row.Scan(&a, &b) })
	}
	if err != nil {
		return false, false, fmt.Errorf("pglock: %w", classify(err))
	}
	return a, b, nil
}
