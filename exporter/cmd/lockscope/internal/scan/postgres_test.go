package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
	"github.com/lockscope/lockscope/scanner/report"
)

// session connects as a role under a name, and runs statements.
func session(t *testing.T, s *pgproc.Server, role, name string, statements ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(role)+"&application_name="+name)
	cmdtest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for _, sql := range statements {
		_, err := conn.Exec(t.Context(), sql)
		cmdtest.Must(t, err)
	}
	return conn
}

// leakedSessions are an idle session with locks, a transaction with a locked row, a prepared one, a session that waits,
// and one that runs a statement with a lock.
func leakedSessions(t *testing.T, s *pgproc.Server) {
	t.Helper()
	cmdtest.Executing(t, cmdtest.Database(t, s))("CREATE TABLE orders (id int PRIMARY KEY); " +
		"INSERT INTO orders VALUES (1); GRANT SELECT, UPDATE ON orders TO service")
	session(t, s, "service", "stuck", "SELECT pg_advisory_lock(12884901889)", "SELECT pg_advisory_lock(7, -8)")
	session(t, s, "service", "forgot", "BEGIN", "SELECT * FROM orders FOR UPDATE")
	session(t, s, "service", "prepares", "BEGIN", "SELECT pg_advisory_xact_lock(99)", "PREPARE TRANSACTION 'lost one'")
	for _, sql := range []string{"SELECT pg_advisory_lock(12884901889)", "SELECT pg_advisory_lock(5), pg_sleep(600)"} {
		conn := session(t, s, "service", "busy")
		done := make(chan struct{})
		go func() { defer close(done); _, _ = conn.Exec(t.Context(), sql) }()
		t.Cleanup(func() { <-done })
	}
	db := cmdtest.Database(t, s)
	cmdtest.Eventually(t, "two sessions run", func() bool {
		n := 0
		cmdtest.Must(t, db.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l USING (pid) "+
			"WHERE state = 'active' AND application_name = 'busy' AND locktype = 'advisory'").Scan(&n))
		return n == 2
	})
}

func TestScanPostgresSessions(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t, "max_prepared_transactions=2")
	args := cmdtest.Quick("--postgres", s.URL("postgres"))
	command(t, args...).Want(t, ui.ExitClean, "BACKEND     NODE", "nothing", "advisory locks 0, locks of pglock 0")
	leakedSessions(t, s)
	normal := command(t, args...)
	normal.Want(t, ui.ExitClean, "nothing", "advisory locks 4", "transactions with locked rows 2",
		"1 advisory lock of sessions that run a statement")
	normal.WantNot(t, "stuck", "forgot", "lost one")

	args = append(args, "--max-hold", "1ms")
	o := command(t, args...)
	o.Want(t, ui.ExitFindings, "postgresql  held_too_long", "postgres: advisory lock 12884901889 ",
		"postgres: advisory lock (7, -8) ", "stuck pid ", "from 127.0.0.1, user service) has been idle since 20",
		"waiting for it: 1 session", "postgres: advisory lock 99 ", "forgot pid ",
		"prepared transaction lost one of user service has waited",
		"has been idle in transaction since", "keeps rows locked in orders", "5 held_too_long")
	o.WantNot(t, "advisory lock 5 ", "busy pid")
	command(t, append(args, "--checks", "no_ttl")...).Want(t, ui.ExitClean)
	command(t, append(args, "--fail-on", "no_ttl")...).Want(t, ui.ExitClean, "stuck pid")

	var d report.Document
	command(t, append(args, "-o", "json", "--max-findings", "2")...).Decode(t, &d)
	f := d.Findings[0]
	if len(d.Findings) != 2 || d.Overflow != 3 || d.Complete || d.Status != "findings" || f.Backend != "postgresql" ||
		f.Place != "postgres" || f.Type != "advisory" || f.TTL != nil || f.Holder == nil || f.Holder.Since.IsZero() ||
		d.Nodes[0].Backend != "postgresql" || d.Nodes[0].Matched["advisory locks"] != 4 {
		t.Errorf("%+v", d)
	}
}

// TestScanPostgresRights: a role that may not see something gets an incomplete report, with the remedy.
func TestScanPostgresRights(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	cmdtest.Executing(t, cmdtest.Database(t, s))("CREATE ROLE poor LOGIN; CREATE ROLE watcher LOGIN; " +
		"GRANT pg_monitor TO watcher")
	session(t, s, "service", "stuck", "SELECT pg_advisory_lock(1)")
	scan := func(role string, more ...string) cmdtest.Outcome {
		return command(t, cmdtest.Quick(append(more, "--max-hold", "1ms", "--postgres", s.URL(role))...)...)
	}
	poor := scan("poor")
	poor.Want(t, ui.ExitIncomplete, "role poor may not see since when 1 session of other roles hold",
		`GRANT pg_read_all_stats TO "poor"`, "role poor may not read the locks of postgres/lockscope", "pglock.Grant")
	poor.WantNot(t, "held_too_long")
	scan("watcher").Want(t, ui.ExitFindings, "advisory lock 1 ", "INCOMPLETE", "role watcher may not read the locks")
	scan("service").Want(t, ui.ExitFindings, "advisory lock 1 ", ": role service may not read table lock")
	scan("service", "--checks", "orphan").Want(t, ui.ExitIncomplete, "INCOMPLETE", "role service may not read table lock")
	scan("service", "--checks", "no_ttl").Want(t, ui.ExitClean)
}

// TestScanPostgresRows: 10,000 locks that are held as they should be, and some that are not.
func TestScanPostgresRows(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, s, "pg-1"), "order")
	row := "INSERT INTO lockscope.lock (key, token, holder, counter, expires) "
	exec := cmdtest.Executing(t, cmdtest.Database(t, s))
	exec(row + "SELECT 'lock:many:' || n, 's3cr3t', '', n, clock_timestamp() + interval '1 minute' " +
		"FROM generate_series(1, 10000) n")
	exec(row + "VALUES ('lock:gone', 's3cr3t', '', 1, clock_timestamp() - interval '1 hour')")
	args := cmdtest.Quick("--postgres", s.URL("postgres"))
	o := command(t, args...)
	o.Want(t, ui.ExitClean, "locks of pglock 10001")
	o.WantNot(t, "lock:")
	exec(row + "VALUES ('lock:ever', 's3cr3t', '', 1, 'infinity'), " +
		"('lock:long', 's3cr3t', '', 1, clock_timestamp() + interval '3 hours'), " +
		"('lock:left', 's3cr3t', '', 1, clock_timestamp() - interval '3 days'), ('lock:null', 's3cr3t', '', 1, NULL)")
	o = command(t, args...)
	o.Want(t, ui.ExitFindings, "no_ttl ", "postgres/lockscope: lock:ever ", "it never expires",
		"long_ttl ", "lock:long ", "longer than the limit of 1h00m", "lock:left ", "it expired 3d00h ago", "lock:null ",
		"1 no_ttl, 2 orphan, 1 long_ttl")
	o.WantNot(t, "lock:many", "lock:order", "lock:gone", "s3cr3t")
	command(t, append(args, "--max-hold", "1ms")...).Want(t, ui.ExitFindings, "lock:order ", "pg-1",
		"one holder has had it for")
}

// TestScanPostgresUnread: a server that is down or hangs, a standby, and one without any locks.
func TestScanPostgresUnread(t *testing.T) {
	t.Parallel()
	s, err := pgproc.Start(t.Context())
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, s.Stop()) })
	args := cmdtest.Quick("--postgres", s.URL("postgres"))
	command(t, args...).Want(t, ui.ExitIncomplete, "no_match", "database postgres has no schema lockscope",
		"there is no schema postgres/lockscope, so no locks of pglock were read")
	command(t, append(args, "--allow-empty")...).Want(t, ui.ExitClean, "advisory locks 0")
	command(t, append(args, "--allow-empty", "--schema", "other")...).Want(t, ui.ExitIncomplete,
		"there is no schema postgres/other")
	standby, err := s.Standby(t.Context())
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, standby.Stop()) })
	command(t, cmdtest.Quick("--allow-empty", "--postgres", standby.URL("postgres"))...).Want(t, ui.ExitIncomplete,
		"replica_not_in_sync", "scan the primary")

	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:leak", "v", 0)
	cmdtest.Must(t, s.Kill())
	o := command(t, append(args, "--redis", redis.Addr())...)
	o.Want(t, ui.ExitError, "redis    no_ttl ", "lock:leak", fmt.Sprint("postgresql  127.0.0.1:", s.Port()),
		"not read", "node_failed", "this machine can reach it")
	cmdtest.Must(t, s.Restart(t.Context()))
	cmdtest.Must(t, s.Pause())
	defer func() { cmdtest.Must(t, s.Resume()) }()
	hung := command(t, append(args, "--deadline", "1s")...)
	hung.Want(t, ui.ExitError, "not read", "node_failed")
	if strings.Contains(hung.Out, "nothing") {
		t.Errorf("nothing of what was not read:\n%s", hung.Out)
	}
}

// TestScanPostgresHangsMidway: a server that stops answering in the middle of a look does not take the look's minute.
func TestScanPostgresHangsMidway(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	session(t, s, "postgres", "migrates", "BEGIN", "LOCK TABLE lockscope.lock IN ACCESS EXCLUSIVE MODE")
	result := make(chan cmdtest.Outcome, 1)
	go func() { result <- command(t, cmdtest.Quick("--postgres", s.URL("postgres"))...) }()
	cmdtest.Eventually(t, "the look waits for the table", func() bool {
		waits := false
		cmdtest.Must(t, db.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity "+
			"WHERE application_name = 'lockscope' AND wait_event_type = 'Lock')").Scan(&waits))
		return waits
	})
	cmdtest.Must(t, s.Pause())
	defer func() { cmdtest.Must(t, s.Resume()) }()
	o := <-result // also that its connections are closed
	o.Want(t, ui.ExitError, "not read", "no answer within 15s")
}
