package pginspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// lockTable is a table in which a library keeps its locks, known by its name and columns.
type lockTable struct {
	library string
	name    string // "" for any
	columns []string
	key     string // column that names the lock
	held    string // condition of rows that are held
	never   string // condition of held rows that never expire
}

// lockTables are as the libraries create them.
var lockTables = []lockTable{
	{"lockscope", "lock", []string{"key", "token", "holder", "counter", "expires"}, "key",
		"token IS NOT NULL", "expires = 'infinity'"},
	{"ShedLock", "", []string{"name", "lock_until", "locked_at", "locked_by"}, "name", "lock_until > now()",
		"lock_until = 'infinity'"},
	{"Spring Integration", "int_lock", []string{"lock_key", "region", "client_id", "created_date"}, "lock_key", "true",
		"true"},
	{"Liquibase", "databasechangeloglock", []string{"id", "locked", "lockgranted", "lockedby"}, "id", "locked", "true"},
	{"Quartz", "qrtz_locks", []string{"sched_name", "lock_name"}, "lock_name", "true", "false"},
	{"River", "river_leader", []string{"name", "leader_id", "elected_at", "expires_at"}, "name", "expires_at > now()",
		"false"},
	{"gocron-gorm-lock", "cron_job_locks", []string{"job_name", "job_identifier", "worker", "status"}, "job_identifier",
		"status = 'RUNNING'", "true"},
	{"Laravel", "cache_locks", []string{"key", "owner", "expiration"}, "key",
		"expiration > extract(epoch FROM now())", "false"},
	{"Symfony", "lock_keys", []string{"key_id", "key_token", "key_expiration"}, "key_id",
		"key_expiration > extract(epoch FROM now())", "false"},
}

// knownLocks are advisory locks whose number is a library's own.
var knownLocks = map[int64]string{
	72707369:            "Prisma Migrate",
	5887940537704921958: "goose",
}

// Libraries implements inspect.Inspector: tables of known libraries in this database, and advisory locks that are held in
// any database of the server.
func (b *Inspector) Libraries(ctx context.Context, sample int) (l inspect.Libraries, err error) {
	l.Read.What, l.Whole = "locks", true
	err = b.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		d := &discovery{tx: tx, sample: sample, layouts: &l}
		if err := step(ctx, d.advisory); err != nil {
			return err
		}
		return d.tables(ctx)
	})
	return l, b.explain(err)
}

type discovery struct {
	tx      pgx.Tx
	sample  int
	layouts *inspect.Libraries
}

// advisory groups advisory locks by the name of the program, and by the first of two numbers.
func (d *discovery) advisory(ctx context.Context) error {
	s := &leakScan{tx: d.tx, leaks: &inspect.Look{}, rules: &inspect.Rules{}}
	all, err := s.readSessions(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		v := &all[i]
		if !v.advisory {
			continue
		}
		f := inspect.Library{Name: "advisory lock", Pattern: v.database + ": " + orUnknown(v.app), Keys: 1, NoTTL: 1,
			Example: v.key(), Confidence: inspect.High, Evidence: "held by sessions with this application_name"}
		if library := knownLocks[v.class<<32|v.object]; v.parts == 1 && library != "" {
			f.Name, f.Evidence = library, "its number is the one that this program uses"
		} else if v.parts == 2 {
			f.Pattern += fmt.Sprintf(", classid %d", int32(v.class))
		}
		d.layouts.Read.N++
		d.layouts.Add(f)
	}
	return nil
}

func orUnknown(application string) string {
	if application == "" {
		return "no application_name"
	}
	return inspect.KeyText(application)
}

// tablesQuery finds tables of this database by their columns, and whether this role may read them.
const tablesQuery = `SELECT n.nspname::text, c.relname::text, has_table_privilege(c.oid, 'SELECT'), current_database()::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND ($1 = '' OR c.relname = $1) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attname = ANY($2)) = cardinality($2)
ORDER BY 1, 2`

type foundTable struct {
	schema, name, database string
	may                    bool
}

func (d *discovery) tables(ctx context.Context) error {
	for _, t := range lockTables {
		var all []foundTable
		err := step(ctx, func(ctx context.Context) (err error) {
			all, err = d.find(ctx, &t)
			return err
		})
		if err != nil {
			return err
		}
		for _, f := range all {
			if err := step(ctx, func(ctx context.Context) error { return d.table(ctx, &t, f) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *discovery) find(ctx context.Context, t *lockTable) ([]foundTable, error) {
	rows, err := d.tx.Query(ctx, tablesQuery, t.name, t.columns)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f foundTable, err error) {
		err = row.Scan(&f.schema, &f.name, &f.may, &f.database)
		return f, err
	})
}

// table counts the locks in a table that are held now.
func (d *discovery) table(ctx context.Context, t *lockTable, at foundTable) error {
	f := inspect.Library{Name: t.library, Pattern: at.database + "/" + at.schema + "." + at.name,
		Confidence: inspect.High, Evidence: "a table with the library's columns"}
	if !at.may {
		f.Evidence += "; this role may not read it"
		d.layouts.Notes = append(d.layouts.Notes, "to count the locks in "+f.Pattern+", GRANT SELECT on it")
		d.layouts.Add(f)
		return nil
	}
	table, key := pgx.Identifier{at.schema, at.name}.Sanitize(), pgx.Identifier{t.key}.Sanitize()
	query := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE %s), coalesce(min(%s::text), '') FROM "+
		"(SELECT * FROM %s WHERE %s LIMIT $1) held", t.never, key, table, t.held)
	if err := d.tx.QueryRow(ctx, query, d.sample).Scan(&f.Keys, &f.NoTTL, &f.Example); err != nil {
		return fmt.Errorf("read %s: %w", f.Pattern, err)
	}
	d.layouts.Read.N += f.Keys
	d.layouts.Whole = d.layouts.Whole && f.Keys < d.sample
	d.layouts.Add(f)
	return nil
}
