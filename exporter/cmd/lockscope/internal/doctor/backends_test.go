package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// results are the doctor's results, by backend, check and node.
func results(t *testing.T, o cmdtest.Outcome) map[string]inspect.Result {
	t.Helper()
	var r Report
	o.Decode(t, &r)
	all := make(map[string]inspect.Result)
	for _, one := range r.Results {
		all[one.Check] = one
		all[one.Check+" "+one.Node] = one
	}
	return all
}

// measured are checks that may complain about sound servers: on a busy machine a server may stall longer than the doctor
// waits, so that most calls fail that are under way at that time, and clocks are too uncertain to compare.
var measured = []string{"latency", "clock", "clock drift", "clocks"}

// wantSound requires that the doctor finds nothing wrong.
func wantSound(t *testing.T, o cmdtest.Outcome, says ...string) {
	t.Helper()
	status := ui.ExitClean
	for check, r := range results(t, o) {
		switch {
		case r.Status == inspect.Pass:
		case r.Status == inspect.Warn && slices.Contains(measured, r.Check):
			status = max(status, ui.ExitFindings)
		case r.Status == inspect.Fail && r.Check == "latency":
			status = ui.ExitError
		default:
			t.Errorf("%s: %+v, want %s", check, r, inspect.Pass)
		}
	}
	o.Want(t, status, says...)
}

func wantResult(t *testing.T, all map[string]inspect.Result, check string, status inspect.Status, says ...string) {
	t.Helper()
	r, found := all[check]
	if !found || r.Status != status {
		t.Errorf("%s: %+v, want %s", check, r, status)
	}
	for _, text := range says {
		if !strings.Contains(r.Detail+" -> "+r.Advice, text) {
			t.Errorf("%s: %q is not in %s -> %s", check, text, r.Detail, r.Advice)
		}
	}
	if status != inspect.Pass && r.Advice == "" {
		t.Errorf("%s: no advice", check)
	}
}

func TestDoctorOfPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t, "fsync=on")
	db := cmdtest.Database(t, s)
	exec := cmdtest.Executing(t, db)
	asService := cmdtest.Patient("--postgres", s.URL("service"))
	asService = append(asService, "-o", "json")
	wantSound(t, command(t, asService...), "primary", "service has every right that locks need", "fsync on")
	command(t, cmdtest.Patient("--postgres", s.URL("service"))...).WantNot(t, "BACKEND")
	wantResult(t, results(t, command(t, cmdtest.Patient("--postgres", s.URL("postgres"), "-o", "json")...)), "schema",
		inspect.Pass, fmt.Sprintf("version %d", pglock.SchemaVersion()))

	exec("CREATE ROLE stranger LOGIN CONNECTION LIMIT 3")
	poor := command(t, cmdtest.Patient("--postgres", s.URL("stranger"), "-o", "json")...)
	poor.Want(t, ui.ExitError)
	wantResult(t, results(t, poor), "rights", inspect.Fail, "stranger may not use schema lockscope",
		`"lockscope init --postgres URL --grant stranger"`)
	wantResult(t, results(t, poor), "connections", inspect.Warn, "1 of 3 of this role")
	exec("REVOKE EXECUTE ON FUNCTION lockscope.prune(interval, integer) FROM service")
	exec("ALTER ROLE service SET default_transaction_isolation = 'serializable'")
	all := results(t, command(t, asService...))
	wantResult(t, all, "rights", inspect.Fail, "function prune(interval, integer)")
	wantResult(t, all, "transactions", inspect.Fail, "serializable")
	wantResult(t, results(t, command(t, cmdtest.Patient("--postgres", s.URL("service"), "--schema", "missing", "-o",
		"json")...)), "schema", inspect.Fail, "no schema missing",
		`"lockscope init --postgres URL --schema missing --grant service"`)
	exec("DROP FUNCTION lockscope.leave(text, text, bigint)")
	exec("INSERT INTO lockscope.migration (version) VALUES (99)")
	wantResult(t, results(t, command(t, asService...)), "schema", inspect.Fail, "leave(text, text, bigint)",
		`"lockscope init --postgres URL --grant service"`)

	gone := command(t, cmdtest.Patient("--postgres", "postgres://u:s3cr3t@127.0.0.1:1/db")...)
	gone.Want(t, ui.ExitError, "connection", "127.0.0.1:1", "refused", "(--postgres)")
	gone.WantNot(t, "s3cr3t")
}

// TestDoctorSeesAPooler, and its mode.
func TestDoctorSeesAPooler(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	pooler := func(url string) inspect.Result {
		t.Helper()
		return results(t, command(t, cmdtest.Patient("--postgres", url, "-o", "json")...))["pooler"]
	}
	if r := pooler(s.URL("service")); r.Status != inspect.Pass || !strings.Contains(r.Detail, "the server itself") {
		t.Errorf("without one: %+v", r)
	}
	for mode, says := range map[string][]string{
		pgproc.SessionPooling: {"session mode", "WithListener"},
		pgproc.TransactionPooling: {"transaction mode", "locks work", "LISTEN/NOTIFY", "WithListener",
			"default_query_exec_mode=exec"},
		pgproc.StatementPooling: {"statement mode", "locks work", "WithListener", "lockscope init --postgres"},
	} {
		for _, connections := range []int{1, 20} {
			if mode == pgproc.SessionPooling && connections == 1 {
				continue // it serves a single client
			}
			b, err := pgproc.StartBouncer(t.Context(), s, mode, connections)
			cmdtest.Must(t, err)
			r := pooler(b.URL())
			cmdtest.Must(t, b.Stop())
			if r.Status != inspect.Warn {
				t.Errorf("%s, %d connections: %+v", mode, connections, r)
			}
			for _, want := range says {
				if !strings.Contains(r.Detail+" "+r.Advice, want) {
					t.Errorf("%s, %d connections: %q is not in %+v", mode, connections, want, r)
				}
			}
		}
	}
}

// TestWrongPasswordOfPostgres: list and doctor report the password, not missing rights.
func TestWrongPasswordOfPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	exec := cmdtest.Executing(t, cmdtest.Database(t, s))
	exec("ALTER ROLE service PASSWORD 's3cr3t'")
	_, err := s.Put("pg_hba.conf", []byte("host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 "+
		"scram-sha-256\n"))
	cmdtest.Must(t, err)
	exec("SELECT pg_reload_conf()")
	cmdtest.Eventually(t, "a password is asked for", func() bool {
		return command(t, "list", "--postgres", s.URL("service")).Status == ui.ExitError
	})
	for _, c := range []string{"list", "doctor"} {
		o := commandWith(t, []string{"LOCKSCOPE_POSTGRES_PASSWORD=wr0ng"}, "", c, "--postgres", s.URL("service"))
		o.Want(t, ui.ExitError, "password authentication failed", "the password is wrong",
			"LOCKSCOPE_POSTGRES_PASSWORD")
		o.WantNot(t, "wr0ng", "Grant")
	}
	commandWith(t, []string{"LOCKSCOPE_POSTGRES_PASSWORD=s3cr3t"}, "", "list", "--postgres", s.URL("service")).Want(t,
		ui.ExitClean)
}

// TestDoctorNamesWhatHoldsRows: an open transaction keeps all row versions of locks that were written since, and each
// use of a lock reads past them.
func TestDoctorNamesWhatHoldsRows(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	exec := cmdtest.Executing(t, db)
	tx, err := db.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	cmdtest.Must(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "SELECT count(*) FROM lockscope.lock")
	cmdtest.Must(t, err)
	exec(`DO $$ BEGIN FOR i IN 1..6000 LOOP
		PERFORM lockscope.acquire('k', 't', '', 60000, 0, 1, 'w', NULL, '', 0, 0, false);
		PERFORM lockscope.release('k', 't', 0, 0, '', 0, '');
		COMMIT;
	END LOOP; END $$`)
	rows := func(user string) inspect.Result {
		t.Helper()
		return results(t, command(t, cmdtest.Patient("--postgres", s.URL(user), "-o", "json")...))["rows"]
	}
	cmdtest.Eventually(t, "the statistics say so", func() bool { return rows("service").Status == inspect.Warn })
	if r := rows("service"); strings.Contains(r.Detail, "pid") ||
		!strings.Contains(r.Advice, "a database of their own") {
		t.Errorf("to a role that may not see others' transactions: %+v", r)
	}
	if r := rows("postgres"); !strings.Contains(r.Detail, "a transaction of postgres (pid ") {
		t.Errorf("to one that may: %+v", r)
	}
	cmdtest.Must(t, tx.Rollback(t.Context()))
	exec("VACUUM lockscope.lock")
	cmdtest.Eventually(t, "all is well again", func() bool { return rows("service").Status == inspect.Pass })
}

// TestDoctorOfAStandby, of its primary, and of a primary that waits for a missing standby.
func TestDoctorOfAStandby(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	standby, err := s.Standby(t.Context())
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, standby.Stop()) })
	o := command(t, cmdtest.Patient("--postgres", standby.URL("service"), "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "role", inspect.Fail, "a standby", "target_session_attrs")
	cmdtest.Eventually(t, "the standby is connected", func() bool {
		r := results(t, command(t, cmdtest.Patient("--postgres", s.URL("service"), "-o", "json")...))
		return r["replication"].Status == inspect.Warn
	})
	all := results(t, command(t, cmdtest.Patient("--postgres", s.URL("service"), "-o", "json")...))
	wantResult(t, all, "replication", inspect.Warn, "1 connected", "WithFailoverQuarantine")
	wantResult(t, all, "persistence", inspect.Fail, "fsync off")
	cmdtest.Must(t, standby.Kill())
	db := cmdtest.Database(t, s)
	_, err = db.Exec(t.Context(), "ALTER SYSTEM SET synchronous_standby_names = 'other'")
	cmdtest.Must(t, err)
	_, err = db.Exec(t.Context(), "SELECT pg_reload_conf()")
	cmdtest.Must(t, err)
	cmdtest.Eventually(t, "the primary waits for a standby that is not there", func() bool {
		r := results(t, command(t, cmdtest.Patient("--postgres", s.URL("service"), "-o", "json")...))["replication"]
		return r.Status == inspect.Warn && strings.Contains(r.Detail, `"other"`) &&
			strings.Contains(r.Detail, "0 connected")
	})
}

func TestDoctorOfEtcd(t *testing.T) {
	t.Parallel()
	c, client := cmdtest.Etcd(t, 3)
	args := cmdtest.Patient("--etcd", strings.Join(c.Endpoints(), ","))
	wantSound(t, command(t, append(args, "-o", "json")...), "leader", "3 members, 3 given: 1 may fail",
		"the user has every right that locks need")
	cmdtest.Must(t, c.Members[0].Kill())
	o := command(t, append(args, "-o", "json")...)
	o.Want(t, ui.ExitFindings)
	wantResult(t, results(t, o), "connection "+c.Members[0].Endpoint(), inspect.Warn, "refused",
		"before another one fails")
	wantResult(t, results(t, o), "quorum", inspect.Pass)
	cmdtest.Must(t, c.Members[1].Kill())
	o = command(t, append(args, "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "quorum", inspect.Fail, "no majority answers", "nobody can take a lock now")
	cmdtest.Must(t, c.Members[0].Start())
	cmdtest.Must(t, c.Members[1].Start())
	cmdtest.Must(t, c.Await(t.Context()))

	for _, do := range []func() error{
		func() error { _, err := client.RoleAdd(t.Context(), "root"); return err },
		func() error { _, err := client.UserAdd(t.Context(), "root", "r00t"); return err },
		func() error { _, err := client.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := client.RoleAdd(t.Context(), "reader"); return err },
		func() error {
			_, err := client.RoleGrantPermission(t.Context(), "reader", "lock:", clientv3.GetPrefixRangeEnd("lock:"),
				clientv3.PermissionType(clientv3.PermRead))
			return err
		},
		func() error { _, err := client.UserAdd(t.Context(), "reader", "s3cr3t"); return err },
		func() error { _, err := client.UserGrantRole(t.Context(), "reader", "reader"); return err },
		func() error { _, err := client.AuthEnable(t.Context()); return err },
	} {
		cmdtest.Must(t, do())
	}
	poor := commandWith(t, []string{"LOCKSCOPE_ETCD_PASSWORD=s3cr3t"}, "",
		append(args, "--etcd-username", "reader", "-o", "json")...)
	poor.Want(t, ui.ExitError)
	wantResult(t, results(t, poor), "rights", inspect.Fail, "permission denied", "readwrite")
	wrong := commandWith(t, []string{"LOCKSCOPE_ETCD_PASSWORD=wr0ng"}, "", append(args, "--etcd-username", "reader")...)
	wrong.Want(t, ui.ExitError, "authentication failed", "--etcd-username")
	wrong.WantNot(t, "wr0ng")
	wantResult(t, results(t, command(t, append(args, "-o", "json")...)), "rights", inspect.Fail, "--etcd-username")
}

// TestDoctorOfTwoClusters that are given as one, and of a full cluster.
func TestDoctorOfTwoClusters(t *testing.T) {
	t.Parallel()
	one, _ := cmdtest.Etcd(t, 1)
	other, _ := cmdtest.Etcd(t, 1)
	o := command(t, cmdtest.Patient("--etcd", one.Endpoints()[0], "--etcd", other.Endpoints()[0], "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "cluster", inspect.Fail, "different clusters")
	wantResult(t, results(t, o), "nodes", inspect.Warn, "1 member")
	_, full := cmdtest.Etcd(t, 1, "--quota-backend-bytes", "262144")
	big := strings.Repeat("x", 64<<10)
	cmdtest.Eventually(t, "the database is full", func() bool {
		_, err := full.Put(t.Context(), "big", big)
		return err != nil
	})
	wantResult(t, results(t, command(t, cmdtest.Patient("--etcd", full.Endpoints()[0], "-o", "json")...)), "alarms",
		inspect.Fail, "NOSPACE", "alarm disarm")
}

func TestDoctorOfZooKeeper(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 3, zkproc.WithSettings("maxSessionTimeout=30000"))
	args := cmdtest.Patient("--zookeeper", strings.Join(e.Addrs(), ","))
	wantSound(t, command(t, append(args, "-o", "json")...), "leader, 3.", "3 servers vote, 3 given: 1 may fail",
		"grant sessions of 25s", "may create and read below /locks")
	o := command(t, append(args, "--max-ttl", "20s", "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "session", inspect.Fail, "TTLs above 12.5s are refused", "maxSessionTimeout=50000")
	conn, events, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogger(cmdtest.Quiet{}), zk.WithLogInfo(false))
	cmdtest.Must(t, err)
	_, err = conn.Create("/private", nil, 0, append(zk.DigestACL(zk.PermAll, "owner", "s3cr3t"),
		zk.WorldACL(zk.PermRead)...))
	cmdtest.Must(t, err)
	conn.Close()
	for range events { // until it has ended
	}
	private := append(args, "--zookeeper-root", "/private", "-o", "json")
	wantResult(t, results(t, command(t, private...)), "rights", inspect.Fail, "LOCKSCOPE_ZOOKEEPER_AUTH")
	wantSound(t, commandWith(t, []string{"LOCKSCOPE_ZOOKEEPER_AUTH=owner:s3cr3t"}, "", private...))
	cmdtest.Must(t, e.Servers[0].Kill())
	o = command(t, append(args, "-o", "json")...)
	o.Want(t, ui.ExitFindings)
	wantResult(t, results(t, o), "connection "+e.Servers[0].Addr(), inspect.Warn, "refused")
	cmdtest.Must(t, e.Servers[1].Kill())
	o = command(t, append(args, "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "quorum", inspect.Fail, "no server granted a session")
}

// TestDoctorOfServersThatAreNoEnsemble, of a server that does not report its role, and of all systems at once.
func TestDoctorOfServersThatAreNoEnsemble(t *testing.T) {
	t.Parallel()
	one, other := cmdtest.ZooKeeper(t, 1), cmdtest.ZooKeeper(t, 1)
	o := command(t, cmdtest.Patient("--zookeeper", one.Addrs()[0]+","+other.Addrs()[0], "-o", "json")...)
	o.Want(t, ui.ExitError)
	wantResult(t, results(t, o), "quorum", inspect.Fail, "not part of an ensemble")
	redis := locktest.Servers(t, 1)[0]
	_, client := cmdtest.Etcd(t, 1)
	all := command(t, cmdtest.Patient("--redis", redis.Addr(), "--etcd", strings.Join(client.Endpoints(), ","),
		"--zookeeper", one.Addrs()[0])...)
	all.Want(t, ui.ExitError, "RESULT  BACKEND", "zookeeper", "etcd", "redis", "appendonly no")
}
