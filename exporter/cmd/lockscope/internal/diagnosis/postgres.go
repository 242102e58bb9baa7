package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/lock/pglock"
)

// postgresFacts is what one server tells a role that may take locks.
type postgresFacts struct {
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
	Rows       postgresRows
	Pooler     pooler
	Unread     error // why the schema is not known
}

const postgresQuestion = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS version_number,
  extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS uptime,
  pg_is_in_recovery() AS standby, (SELECT count(*)::int FROM pg_stat_replication) AS standbys, current_user::text AS "user",
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit, current_setting('synchronous_standby_names') AS sync_names,
  current_setting('default_transaction_isolation') AS isolation, current_setting('default_transaction_read_only')::bool AS read_only,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  (SELECT count(*)::int FROM pg_stat_activity WHERE usesysid IS NOT NULL) AS used,
  (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS own,
  (SELECT count(*)::int FROM pg_stat_activity WHERE usename = current_user) AS own_used`

// Postgres examines a server as the role that locks are to be taken with, for p.For plus a
// moment, and changes nothing. What goes wrong, also the end of ctx, is in its results.
func Postgres(ctx context.Context, b *backend.Postgres, p Policy) Examination {
	e := Examination{Backend: b.System()}
	n := BackendNode{Node: b.Address()}
	var f postgresFacts
	if f, n.Err = askPostgres(ctx, b); n.Err != nil {
		advice := cmp.Or(b.Advice(n.Err),
			"see --postgres: is the server up, is the address right, may this machine reach it?")
		e.add("connection", n.Node, fail(backend.OneLine(n.Err).Error(), advice))
		e.Nodes = []BackendNode{n}
		return e
	}
	n.Version, n.Uptime, n.Role = f.Version, f.Uptime, "primary"
	if f.Standby {
		n.Role = "standby"
	}
	n.Clock, n.Ping = observePostgres(ctx, b, p.For)
	e.Nodes = []BackendNode{n}
	for _, c := range []struct {
		name  string
		check func(postgresFacts, Policy) Result
	}{
		{"connection", func(f postgresFacts, _ Policy) Result { return pass("reached and let in as " + f.User) }},
		{"pooler", checkPooler},
		{"version", checkPostgresVersion}, {"role", checkPostgresRole}, {"schema", checkPostgresSchema}, {"rights", checkPostgresRights},
		{"persistence", checkPostgresFsync}, {"replication", checkPostgresReplication}, {"transactions", checkPostgresTransactions},
		{"connections", checkPostgresConnections}, {"rows", checkPostgresRows},
	} {
		e.add(c.name, n.Node, c.check(f, p))
	}
	e.add("clock", n.Node, checkServerClock(n.Clock))
	e.add("clock drift", n.Node, checkDrift(Facts{Clock: n.Clock}, p))
	e.add("latency", n.Node, judgeLatency(n.Ping, p))
	return e
}

func askPostgres(ctx context.Context, b *backend.Postgres) (f postgresFacts, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*reachTimeout)
	defer cancel()
	rows, err := b.Pool.Query(ctx, postgresQuestion)
	if err != nil {
		return f, err
	}
	var uptime float64
	_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, row.Scan(&f.Version, &f.VersionNumber, &uptime, &f.Standby, &f.Standbys, &f.User, &f.Fsync, &f.Commit, &f.SyncNames,
			&f.Isolation, &f.ReadOnly, &f.Most, &f.Used, &f.Own, &f.OwnUsed)
	})
	if err != nil {
		return f, err
	}
	f.Uptime, f.SchemaName = time.Duration(uptime*float64(time.Second)), b.Schema
	f.Schema, f.Unread = pglock.ReadSchema(ctx, b.Pool, b.Schema)
	f.Rows = askPostgresRows(ctx, b)
	f.Pooler = askPooler(ctx, b.Pool.Config().ConnConfig)
	return f, nil
}

// observePostgres samples clock and latency: one answer tells both.
func observePostgres(ctx context.Context, b *backend.Postgres, during time.Duration) (Clock, Latency) {
	began := time.Now()
	var samples []sample
	l := sampleLatency(ctx, during, func() error {
		var micros int64
		sent := time.Since(began)
		err := b.Pool.QueryRow(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&micros)
		if err == nil {
			samples = append(samples, sample{time.UnixMicro(micros).Sub(began.Round(0)), sent, time.Since(began)})
		}
		return err
	})
	return measure(samples), l
}

// oldestPostgres still gets fixes; the driver is tested with 15.
const oldestPostgres = 14

func checkPostgresVersion(f postgresFacts, _ Policy) Result {
	if f.VersionNumber/10000 < oldestPostgres {
		return warn(f.Version, "no security fixes are made for it any more: upgrade")
	}
	return pass(f.Version)
}

func checkPostgresRole(f postgresFacts, _ Policy) Result {
	if f.Standby {
		return fail("a standby: it follows another server, and grants nothing", "name the primary, or all servers with target_session_attrs=read-write")
	}
	return pass("primary")
}

func checkPostgresSchema(f postgresFacts, _ Policy) Result {
	const migrate = "run pglock.Migrate on this database, as a role that may create there"
	s, known := f.Schema, pglock.SchemaVersion()
	switch {
	case f.Unread != nil:
		return fail(f.Unread.Error(), "see --schema")
	case !s.Present:
		return fail(fmt.Sprintf("there is no schema %s in this database", f.SchemaName), migrate+"; see --schema")
	case !s.Usage:
		return warn("it is there, and not known more of: this role may not use it", "see rights")
	case len(s.Missing) > 0:
		return fail("what this version calls is not there: "+strings.Join(s.Missing, "; "), migrate+": it brings an older schema up to date")
	case s.Version > known:
		return warn(fmt.Sprintf("version %d, and this program knows %d", s.Version, known), "use a later lockscope, or services may be older than the schema, too")
	case s.Version == 0:
		return pass("all that this version calls is there; the version of the tables only their owner may read")
	case s.Version < known:
		return fail(fmt.Sprintf("version %d, and this program needs %d", s.Version, known), migrate)
	}
	return pass(fmt.Sprintf("version %d", s.Version))
}

func checkPostgresRights(f postgresFacts, _ Policy) Result {
	grant := fmt.Sprintf("pglock.Grant(ctx, db, %q, %q), as the owner of the schema", f.SchemaName, f.User)
	switch s := f.Schema; {
	case f.Unread != nil || !s.Present:
		return warn("not known: see schema", "see schema")
	case !s.Usage:
		return fail(fmt.Sprintf("%s may not use schema %s", f.User, f.SchemaName), grant)
	case len(s.Denied) > 0:
		return fail(f.User+" may not use "+strings.Join(s.Denied, "; "), grant)
	}
	return pass(f.User + " may do all that locks need")
}

func checkPostgresFsync(f postgresFacts, _ Policy) Result {
	if f.Fsync != "on" {
		return fail("fsync "+f.Fsync+": a crash may forget locks that are valid, and fence counters", "fsync = on, and restart")
	}
	return pass("fsync on: a crash of the server keeps locks and fence counters")
}

func checkPostgresReplication(f postgresFacts, _ Policy) Result {
	detail := fmt.Sprintf("synchronous_standby_names %q, synchronous_commit %s, %d connected", f.SyncNames, f.Commit, f.Standbys)
	switch {
	case f.Standby:
		return warn(detail, "see role")
	case f.SyncNames == "" && f.Standbys > 0:
		return warn(detail, "a standby that is promoted may not know the last locks: name it in synchronous_standby_names, or have services use pglock.WithFailoverQuarantine")
	case f.SyncNames != "" && f.Standbys == 0:
		return warn(detail, "grants wait for a standby that is not there: bring one back, or empty synchronous_standby_names")
	case f.SyncNames != "" && (f.Commit == "off" || f.Commit == "local"):
		return pass(detail + "; grants wait for standbys all the same")
	}
	return pass(detail)
}

func checkPostgresTransactions(f postgresFacts, _ Policy) Result {
	detail := fmt.Sprintf("default_transaction_isolation %s, default_transaction_read_only %v", f.Isolation, f.ReadOnly)
	const mend = "ALTER ROLE ... SET, or the connection string of the services, changes it for this role alone"
	switch {
	case f.Isolation != "read committed":
		return fail(detail, "locks need read committed: "+mend)
	case f.ReadOnly && !f.Standby:
		return fail(detail, "to take a lock is to write: "+mend)
	}
	return pass(detail)
}

// checkPostgresConnections: a process with locks has some connections open.
func checkPostgresConnections(f postgresFacts, _ Policy) Result {
	free, detail := f.Most-f.Used, fmt.Sprintf("%d of %d in use", f.Used, f.Most)
	if f.Own >= 0 {
		free = min(free, f.Own-f.OwnUsed)
		detail += fmt.Sprintf(", %d of %d of this role", f.OwnUsed, f.Own)
	}
	const each = pglock.DefaultConnections + 1
	if free < each {
		return warn(detail, fmt.Sprintf("a process has up to %d: raise max_connections or the role's limit, give WithConnections, or use a pooler", each))
	}
	return pass(detail)
}

// checkServerClock: expiries and tokens are by the server's clock.
func checkServerClock(c Clock) Result {
	if c.Samples == 0 {
		return warn("it was not told", "see latency")
	}
	detail := fmt.Sprintf("%s this machine, ±%s", ahead(c.Offset), short(c.OffsetError))
	if c.Offset.Abs()-c.OffsetError > farOff {
		return warn(detail, "is NTP running on both? Locks need clocks of equal rate, not equal time; this much is a sign of neither")
	}
	return pass(detail)
}
