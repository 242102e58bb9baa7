package list

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestListSideBySide reads all four systems in one call, in one order, with their waiters.
func TestListSideBySide(t *testing.T) {
	t.Parallel()
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:order:redis", cmdtest.Ours, time.Minute)
	pg := cmdtest.Postgres(t)
	_, client := cmdtest.Etcd(t, 1)
	zk := cmdtest.ZooKeeper(t, 1)
	args := []string{
		"list", "--redis", redis.Addr(), "--postgres", pg.URL("service"), "--etcd",
		strings.Join(client.Endpoints(), ","),
		"--zookeeper", strings.Join(zk.Addrs(), ","),
		"--etcd-fence-key", "fences/base",
	}
	fenceKey := etcdlock.WithFenceKey("fences/base")
	fences := map[string]uint64{
		"postgresql": cmdtest.Hold(t, cmdtest.PostgresLocker(t, pg, "pg-1"), "order:pg").Fence(),
		"etcd":       cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1", fenceKey), "order:etcd").Fence(),
		"zookeeper":  cmdtest.Hold(t, cmdtest.ZooKeeperLocker(t, zk, "zk-1"), "order:zk").Fence(),
	}
	cmdtest.Queue(t, cmdtest.PostgresLocker(t, pg, "pg-2"), t.Context(), "order:pg")
	cmdtest.Queue(t, cmdtest.EtcdLocker(t, client, "etcd-2", fenceKey), t.Context(), "order:etcd")
	cmdtest.Queue(t, cmdtest.ZooKeeperLocker(t, zk, "zk-2"), t.Context(), "order:zk")
	session, err := concurrency.NewSession(client)
	cmdtest.Must(t, err)
	defer func() { cmdtest.Must(t, session.Close()) }()
	cmdtest.Must(t, concurrency.NewMutex(session, etcdlock.MutexPrefix(lock.DefaultPrefix, "plain")).Lock(t.Context()))

	var r document
	cmdtest.Eventually(t, "all waiters are there", func() bool {
		o := command(t, append(args, "-o", "json", "--sort", "resource", "--filter", "order:*")...)
		o.Want(t, ui.ExitClean)
		o.Decode(t, &r)
		waiting := 0
		for _, l := range r.Locks {
			if l.Waiting != nil && l.Waiting.Queue[0].Name != "" {
				waiting++
			}
		}
		return waiting == 3
	})
	var order []string
	for _, l := range r.Locks {
		order = append(order, l.Backend)
		if l.Holder == nil || !l.Held || l.Backend != "redis" && l.Holder.Fence != fences[l.Backend] {
			t.Errorf("%s: %+v", l.Backend, l.Holder)
		}
		if known := l.TTL != nil && *l.TTL > 0 && *l.TTL <= 60; known == (l.Backend == "zookeeper") ||
			l.TTLUnknown == known {
			t.Errorf("%s: TTL %v, unknown: %v", l.Backend, l.TTL, l.TTLUnknown)
		}
	}
	if got := fmt.Sprint(order); got != "[etcd postgresql redis zookeeper]" || len(r.Nodes) != 4 || r.Unknown != "" {
		t.Errorf("%s, %+v", got, r)
	}
	o := command(t, append(args, "--waiters")...)
	o.Want(t, ui.ExitClean, "BACKEND     RESOURCE", "postgresql  order:pg", "pg-2", "etcd-2", "zk-2",
		"zookeeper   order:zk", "the end of its holder's session", "plain")
	o = command(t, append(args, "--limit", "2", "--sort", "age")...)
	o.Want(t, ui.ExitClean, "order:redis", "... and 3 more")
	command(t, "list", "--zookeeper", zk.Addrs()[0], "--filter", "nothing").Want(t, ui.ExitClean, "no locks\n")
}

// TestListDeadlockInPostgres: a cycle over two processes, found from what waiters record that they hold.
func TestListDeadlockInPostgres(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	p1, p2 := cmdtest.PostgresLocker(t, pg, "orders-1"), cmdtest.PostgresLocker(t, pg, "stock-2")
	a, b := cmdtest.Hold(t, p1, "order"), cmdtest.Hold(t, p2, "stock")
	cmdtest.Queue(t, p1, a.Context(), "stock")
	cmdtest.Queue(t, p2, b.Context(), "order")
	args := []string{"list", "--postgres", pg.URL("service")}
	var r document
	cmdtest.Eventually(t, "the deadlock is found", func() bool {
		command(t, append(args, "-o", "json")...).Decode(t, &r)
		return len(r.Deadlocks) == 1
	})
	o := command(t, append(args, "--waiters")...)
	o.Want(t, ui.ExitClean, "DEADLOCK: orders-1 holds order and waits for stock; stock-2 holds stock and waits for order\n",
		`the holder of "order" waits for "stock"`, "cmdtest/systems.go:")
	o.WantNot(t, "BACKEND")
}

// TestListOfWhatCannotBeRead shows the rest, and names the system, the address and the remedy without a password.
func TestListOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, pg, "pg-1"), "order")
	_, err := cmdtest.Database(t, pg).Exec(t.Context(), "CREATE ROLE stranger LOGIN PASSWORD 's3cr3t'")
	cmdtest.Must(t, err)
	pgAddr := fmt.Sprint("127.0.0.1:", pg.Port())
	o := command(t, "list", "--postgres", pg.URL("service"), "--etcd", "127.0.0.1:1", "--zookeeper", "127.0.0.1:2",
		"--redis", "127.0.0.1:3")
	o.Want(t, ui.ExitError, "order", "pg-1", "etcd 127.0.0.1:1: ", "zookeeper 127.0.0.1:2: ", "127.0.0.1:3",
		"this machine can reach it")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"nobody is there": {[]string{"--postgres", "postgres://u:s3cr3t@127.0.0.1:4/db"},
			[]string{"postgresql 127.0.0.1:4: ", "check the address, and the server with \"lockscope doctor\"", "not read"}},
		"a poor role": {[]string{"--postgres", strings.Replace(pg.URL("stranger"), "@", ":s3cr3t@", 1)},
			[]string{"postgresql " + pgAddr, "pglock.Grant"}},
		"no such schema": {[]string{"--postgres", pg.URL("postgres"), "--schema", "missing"},
			[]string{"Migrate", "--schema"}},
		"a bad schema": {[]string{"--postgres", pg.URL("postgres"), "--schema", "a\";"}, []string{"--schema"}},
		"no URL":       {[]string{"--postgres", "postgres://u:s3cr3t@h:63x9/db"}, []string{"--postgres"}},
		"two passwords": {[]string{"--postgres", "host=h", "--postgres-password-file", "/dev/null"},
			[]string{"use one"}},
		"etcd with a user": {[]string{"--etcd", "http://u:s3cr3t@h:2379"},
			[]string{"etcd endpoint 1", "--etcd-username"}},
		"etcd, TLS unasked": {[]string{"--etcd", "http://h:2379", "--tls-insecure-skip-verify"}, []string{"https://"}},
		"no server":         {[]string{"--zookeeper", "u:s3cr3t@h:1"}, []string{"ZooKeeper server 1"}},
		"no root": {[]string{"--zookeeper", "h:1", "--zookeeper-root", "locks"},
			[]string{"--zookeeper-root"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := commandWith(t, []string{"LOCKSCOPE_POSTGRES_PASSWORD=s3cr3t"}, "",
				append([]string{"list"}, c.args...)...)
			o.Want(t, ui.ExitError, c.says...)
			o.WantNot(t, "s3cr3t", `\t`)
		})
	}
}

// TestListOfAStandby shows the locks, and reports that the waiters are unknown.
func TestListOfAStandby(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, pg, "pg-1"), "order")
	standby, err := pg.Standby(t.Context())
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, standby.Stop()) })
	command(t, "list", "--postgres", standby.URL("service")).Want(t, ui.ExitClean, "order", "pg-1",
		"some waiters are unknown", "recovery")
}

// TestBackendVariables name systems as their flags do. REDIS_URL is a platform's variable and counts only if nothing
// else is named.
func TestBackendVariables(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t, "password_encryption=scram-sha-256")
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, pg, "pg-1"), "order")
	file := filepath.Join(t.TempDir(), "password")
	cmdtest.Must(t, os.WriteFile(file, []byte("s3cr3t\n"), 0o600))
	env := []string{"LOCKSCOPE_POSTGRES=" + pg.URL("service"), "REDIS_URL=redis://127.0.0.1:1"}
	commandWith(t, env, "", "list").Want(t, ui.ExitClean, "pg-1")
	commandWith(t, env, "", "list", "--postgres-password-file", file).Want(t, ui.ExitClean, "pg-1")
	commandWith(t, append(env, "LOCKSCOPE_ETCD=127.0.0.1:1"), "", "list").Want(t, ui.ExitError, "pg-1",
		"etcd 127.0.0.1:1")
	commandWith(t, []string{"REDIS_URL=redis://127.0.0.1:1"}, "", "list").Want(t, ui.ExitError, "127.0.0.1:1")
	command(t, "list").Want(t, ui.ExitError, "no Redis server given")
}
