package pginspect

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/pglock"
)

// facts are those of one server, as a role sees them that may take locks.
type facts struct {
	Version       string
	VersionNumber int // 150004
	Uptime        time.Duration
	Standby       bool
	Standbys      int // that follow this server at the moment
	User          string
	Fsync         string
	Commit        string // synchronous_commit
	SyncNames     string // synchronous_standby_names
	Isolation     string // default_transaction_isolation
	ReadOnly      bool   // default_transaction_read_only
	Most, Used    int    // connections
	Own, OwnUsed  int    // of this role; -1: no limit

	SchemaName string
	Schema     pglock.Schema
	Rows       rowFacts
	Pooler     pooler
	Unread     error // why the schema is not known
}

const question = `SELECT current_setting('server_version') AS version,
  current_setting('server_version_num')::int AS version_number,
  extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS uptime,
  pg_is_in_recovery() AS standby, (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
  current_user::text AS "user",
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS sync_names,
  current_setting('default_transaction_isolation') AS isolation,
  current_setting('default_transaction_read_only')::bool AS read_only,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  (SELECT count(*)::int FROM pg_stat_activity WHERE usesysid IS NOT NULL) AS used,
  (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS own,
  (SELECT count(*)::int FROM pg_stat_activity WHERE usename = current_user) AS own_used`

// Examine implements inspect.Inspector.
func (b *Inspector) Examine(ctx context.Context, _ time.Duration) inspect.Examination {
	e := inspect.Examination{}
	n := inspect.Node{Node: b.Address()}
	var f facts
	if f, n.Err = ask(ctx, b); n.Err != nil {
		advice := cmp.Or(b.advice(n.Err),
			inspect.ReachAdvice+" (--postgres)")
		e.Add("connection", n.Node, inspect.Failed(inspect.OneLine(n.Err).Error(), advice))
		e.Nodes = []inspect.Node{n}
		return e
	}
	n.Version, n.Uptime, n.Role = f.Version, f.Uptime, "primary"
	if f.Standby {
		n.Role = "standby"
	}
	e.Nodes = []inspect.Node{n}
	for _, c := range []struct {
		name  string
		check func(*facts) inspect.Result
	}{
		{"connection", func(f *facts) inspect.Result { return inspect.Passed("connected as " + f.User) }},
		{"pooler", func(f *facts) inspect.Result { return checkPooler(f.Pooler) }},
		{"version", checkVersion}, {"role", checkRole}, {"schema", checkSchema}, {"rights", checkRights},
		{"persistence", checkFsync}, {"replication", checkReplication}, {"transactions", checkTransactions},
		{"connections", checkConnections},
		{"rows", func(f *facts) inspect.Result { return checkRows(f.Rows) }},
	} {
		e.Add(c.name, n.Node, c.check(&f))
	}
	e.Answers = true
	return e
}

func ask(ctx context.Context, b *Inspector) (f facts, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*inspect.ReachTimeout)
	defer cancel()
	rows, err := b.pool.Query(ctx, question)
	if err != nil {
		return f, err
	}
	var uptime float64
	_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, row.Scan(&f.Version, &f.VersionNumber, &uptime, &f.Standby, &f.Standbys, &f.User, &f.Fsync,
			&f.Commit, &f.SyncNames, &f.Isolation, &f.ReadOnly, &f.Most, &f.Used, &f.Own, &f.OwnUsed)
	})
	if err != nil {
		return f, err
	}
	f.Uptime, f.SchemaName = time.Duration(uptime*float64(time.Second)), b.schema
	f.Schema, f.Unread = pglock.ReadSchema(ctx, b.pool, b.schema)
	f.Rows = askRows(ctx, b)
	f.Pooler = askPooler(ctx, b.pool.Config().ConnConfig)
	return f, nil
}

// oldestVersion still gets fixes; the driver is tested with 15.
const oldestVersion = 14

func checkVersion(f *facts) inspect.Result {
	if f.VersionNumber/10000 < oldestVersion {
		return inspect.Warned(f.Version, "it gets no security fixes any more: upgrade")
	}
	return inspect.Passed(f.Version)
}

func checkRole(f *facts) inspect.Result {
	if f.Standby {
		return inspect.Failed("a standby: it follows another server and grants no locks",
			"give the primary, or all servers with target_session_attrs=read-write")
	}
	return inspect.Passed("primary")
}

func checkSchema(f *facts) inspect.Result {
	migrate := "run " + initCommand(f.SchemaName, f.User) + " as a role that may create schemas there"
	s, known := f.Schema, pglock.SchemaVersion()
	switch {
	case f.Unread != nil:
		return inspect.Failed(f.Unread.Error(), "check --schema")
	case !s.Present:
		return inspect.Failed(fmt.Sprintf("the database has no schema %s", f.SchemaName), migrate+
			"; check --schema")
	case !s.Usage:
		return inspect.Warned("it exists, but this role may not use it", "see the rights check")
	case len(s.Missing) > 0:
		return inspect.Failed("objects that this version needs are missing: "+strings.Join(s.Missing, "; "), migrate+
			": it upgrades an older schema")
	case s.Version > known:
		return inspect.Warned(fmt.Sprintf("version %d, but this program knows only %d", s.Version, known),
			"use a later lockscope, and check that your services are not older than the schema")
	case s.Version == 0:
		return inspect.Passed(
			"it has all that this version needs; only the owner can read the version of the tables")
	case s.Version < known:
		return inspect.Failed(fmt.Sprintf("version %d, but this program needs %d", s.Version, known), migrate)
	}
	return inspect.Passed(fmt.Sprintf("version %d", s.Version))
}

func checkRights(f *facts) inspect.Result {
	grant := "run " + initCommand(f.SchemaName, f.User) + " as the owner of the schema"
	switch s := f.Schema; {
	case f.Unread != nil || !s.Present:
		return inspect.Warned("unknown", "see the schema check")
	case !s.Usage:
		return inspect.Failed(fmt.Sprintf("%s may not use schema %s", f.User, f.SchemaName), grant)
	case len(s.Denied) > 0:
		return inspect.Failed(f.User+" may not use "+strings.Join(s.Denied, "; "), grant)
	}
	return inspect.Passed(f.User + " has every right that locks need")
}

func checkFsync(f *facts) inspect.Result {
	if f.Fsync != "on" {
		return inspect.Failed("fsync "+f.Fsync+": a crash can lose valid locks and fence counters",
			"set fsync = on and restart the server")
	}
	return inspect.Passed("fsync on: a crash of the server keeps locks and fence counters")
}

func checkReplication(f *facts) inspect.Result {
	detail := fmt.Sprintf("synchronous_standby_names %q, synchronous_commit %s, %d connected", f.SyncNames, f.Commit,
		f.Standbys)
	switch {
	case f.Standby:
		return inspect.Warned(detail, "see the role check")
	case f.SyncNames == "" && f.Standbys > 0:
		return inspect.Warned(detail, "a promoted standby may lack the last locks: list it in "+
			"synchronous_standby_names, or use pglock.WithFailoverQuarantine in the services")
	case f.SyncNames != "" && f.Standbys == 0:
		return inspect.Warned(detail, "grants wait for a standby that is not connected: bring one back, or empty "+
			"synchronous_standby_names")
	case f.SyncNames != "" && (f.Commit == "off" || f.Commit == "local"):
		return inspect.Passed(detail + "; grants wait for standbys anyway")
	}
	return inspect.Passed(detail)
}

func checkTransactions(f *facts) inspect.Result {
	detail := fmt.Sprintf("default_transaction_isolation %s, default_transaction_read_only %v", f.Isolation, f.ReadOnly)
	const remedy = "set it for this role with ALTER ROLE ... SET, or in the connection string of the services"
	switch {
	case f.Isolation != "read committed":
		return inspect.Failed(detail, "locks need read committed: "+remedy)
	case f.ReadOnly && !f.Standby:
		return inspect.Failed(detail, "taking a lock writes: "+remedy)
	}
	return inspect.Passed(detail)
}

// checkConnections: a process with locks has some connections open.
func checkConnections(f *facts) inspect.Result {
	free, detail := f.Most-f.Used, fmt.Sprintf("%d of %d in use", f.Used, f.Most)
	if f.Own >= 0 {
		free = min(free, f.Own-f.OwnUsed)
		detail += fmt.Sprintf(", %d of %d of this role", f.OwnUsed, f.Own)
	}
	const each = pglock.DefaultConnections + 1
	if free < each {
		return inspect.Warned(detail,
			fmt.Sprintf("a process opens up to %d: raise max_connections or the role's limit, "+
				"use WithConnections, or use a pooler", each))
	}
	return inspect.Passed(detail)
}
