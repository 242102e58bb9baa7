package discover

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

func put(t *testing.T, client *clientv3.Client, key, value string, opts ...clientv3.OpOption) {
	t.Helper()
	_, err := client.Put(t.Context(), key, value, opts...)
	cmdtest.Must(t, err)
}

// TestDiscoverEtcd plants locks by the libraries themselves where Go has them.
func TestDiscoverEtcd(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	command(t, "discover", "--etcd", client.Endpoints()[0]).Want(t, ui.ExitClean, "looked at 0 keys (all); found no lock")
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order")
	s, err := concurrency.NewSession(client)
	cmdtest.Must(t, err)
	defer s.Close()
	cmdtest.Must(t, concurrency.NewMutex(s, "/app/job").Lock(t.Context()))
	cmdtest.Must(t, concurrency.NewElection(s, "/app/leader").Campaign(t.Context(), "s3cret"))
	put(t, client, "/app/old/7d7ba2177dacd005", "")
	put(t, client, "/locks/report", strings.Repeat("u", 16), clientv3.WithLease(s.Lease()))
	put(t, client, "/service/pg/leader", "pg-1", clientv3.WithLease(s.Lease()))
	put(t, client, "/registry/leases/kube-system/scheduler", "{}")
	put(t, client, "/config/color", "s3cret")
	o := command(t, "discover", "--etcd", client.Endpoints()[0])
	o.Want(t, ui.ExitClean, "BACKEND  NODE", "etcd     ", "lockscope             lock:", "concurrency.Mutex     /app/",
		"1 never", "concurrency.Election  /app/", "python-etcd3          /locks/", "Patroni               /service/",
		"Kubernetes Lease      /registry/leases/", "keys (all)")
	o.WantNot(t, "s3cret", "/config/color")
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:ours", cmdtest.Ours, time.Minute)
	command(t, "discover", "--etcd", client.Endpoints()[0], "--sample", "2", "--redis", redis.Addr()).Want(t, ui.ExitClean,
		"looked at 2 keys (a sample; raise it with --sample)", "redis    "+redis.Addr())
	var d document
	command(t, "discover", "--etcd", client.Endpoints()[0], "--redis", redis.Addr(), "--output", "json").Decode(t, &d)
	if len(d.Nodes) != 2 || !d.Nodes[1].Whole || d.Nodes[1].Unit != "keys" || d.Found[0].Node != redis.Addr() ||
		d.Found[0].MaxTTL == nil || d.Found[1].Backend != "etcd" || d.Found[1].MaxTTL != nil || d.Found[1].Keys == 0 {
		t.Errorf("%+v", d)
	}
	command(t, "discover", "--etcd", "127.0.0.1:1", "--output", "json").Want(t, ui.ExitError, `"failed": true`)
	command(t, "discover", "--etcd", "127.0.0.1:1").Want(t, ui.ExitError, "127.0.0.1:1: not read",
		"this machine can reach it")
	for _, err := range []error{
		second(client.UserAdd(t.Context(), "root", "r00t")), second(client.UserGrantRole(t.Context(), "root", "root")),
		second(client.UserAdd(t.Context(), "poor", "p00r")), second(client.RoleAdd(t.Context(), "reader")),
		second(client.RoleGrantPermission(t.Context(), "reader", "lock:", clientv3.GetPrefixRangeEnd("lock:"),
			clientv3.PermissionType(clientv3.PermRead))),
		second(client.UserGrantRole(t.Context(), "poor", "reader")), second(client.AuthEnable(t.Context())),
	} {
		cmdtest.Must(t, err)
	}
	poor := run.With(t, []string{"LOCKSCOPE_ETCD_PASSWORD=p00r"}, "", "discover", "--etcd", client.Endpoints()[0],
		"--etcd-username", "poor")
	poor.Want(t, ui.ExitClean, "lockscope", "user poor may not read all keys, so only those below lock: were")
	poor.WantNot(t, "/app/", "p00r")
}

func second[T any](_ T, err error) error { return err }

// TestDiscoverZooKeeper plants places as the libraries name them, and by zk.Lock and zklock themselves.
func TestDiscoverZooKeeper(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	cmdtest.Hold(t, cmdtest.ZooKeeperLocker(t, e, "zk-1"), "order/1")
	conn, events, err := zk.Connect(e.Addrs(), 30*time.Second, zk.WithLogger(cmdtest.Quiet{}))
	cmdtest.Must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range events {
		}
	}()
	defer func() { conn.Close(); <-ended }()
	cmdtest.Must(t, zk.NewLock(conn, "/go/job", zk.WorldACL(zk.PermAll)).Lock())
	const uuid = "6f1d2d1e-8a5e-4f8e-9b59-6a1f3e0c7a11"
	for _, path := range []string{"/app", "/app/a", "/app/b", "/app/c", "/py", "/py/d", "/app/config"} {
		_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		cmdtest.Must(t, err)
	}
	for path, flags := range map[string]int32{
		"/app/a/_c_" + uuid + "-lock-": zk.FlagEphemeral, "/app/a/_c_" + uuid + "-lock-x-lock-": 0,
		"/app/b/_c_" + uuid + "-__WRIT__":                         zk.FlagEphemeral,
		"/app/c/_c_" + uuid + "-latch-":                           0,
		"/py/d/" + strings.ReplaceAll(uuid, "-", "") + "__lock__": zk.FlagEphemeral,
	} {
		_, err := conn.Create(path, nil, flags|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		cmdtest.Must(t, err)
	}
	o := command(t, "discover", "--zookeeper", e.Addrs()[0])
	o.Want(t, ui.ExitClean, "zookeeper  ", "lockscope ", "go-zookeeper zk.Lock ", "  /go ", "Curator mutex or election ",
		"Curator read-write lock ", "Curator leader latch ", "never", "a queue of places ", "kazoo ", "  /py ", "nodes (all)")
	o.WantNot(t, "/app/config", "/zookeeper/")
	cmdtest.Must(t, e.Servers[0].Kill())
	command(t, "discover", "--zookeeper", e.Addrs()[0]).Want(t, ui.ExitError, "not read", "this machine can reach it")
}

// TestDiscoverPostgres finds tables by their columns and advisory locks by who holds them.
func TestDiscoverPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	exec := cmdtest.Executing(t, cmdtest.Database(t, s))
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, s, "pg-1"), "order")
	exec("CREATE SCHEMA app; CREATE TABLE app.jobs_shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp, " +
		"locked_at timestamp, locked_by varchar(255)); INSERT INTO app.jobs_shedlock VALUES " +
		"('nightly', now() + interval '1 hour', now(), 's3cret-host'), ('done', now() - interval '1 hour', now(), 'x'); " +
		"CREATE TABLE databasechangeloglock (id int, locked bool, lockgranted timestamp, lockedby varchar(255)); " +
		"INSERT INTO databasechangeloglock VALUES (1, true, now(), 'x'); " +
		"CREATE TABLE orders (name text, lock_until timestamp)")
	for name, sql := range map[string]string{
		"report": "SELECT pg_advisory_lock(7, 8), pg_advisory_lock(7, 9)", "migrate": "SELECT pg_advisory_lock(72707369)",
	} {
		conn, err := pgx.Connect(t.Context(), s.URL("service")+"&application_name="+name)
		cmdtest.Must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		_, err = conn.Exec(t.Context(), sql)
		cmdtest.Must(t, err)
	}
	o := command(t, "discover", "--postgres", s.URL("postgres"))
	o.Want(t, ui.ExitClean, "postgresql  "+fmt.Sprint("127.0.0.1:", s.Port()), "lockscope ", "postgres/lockscope.lock ",
		"ShedLock ", "postgres/app.jobs_shedlock ", "nightly ", "Liquibase ", "Prisma Migrate ", "postgres: migrate ",
		"advisory lock ", "postgres: report, classid 7 ", "advisory lock (7, 8)", "6 locks (all)")
	o.WantNot(t, "s3cret", "orders")
	command(t, "discover", "--postgres", s.URL("service")).Want(t, ui.ExitClean,
		"to count the locks in postgres/app.jobs_shedlock, GRANT SELECT on it")
	cmdtest.Must(t, s.Pause())
	hung := command(t, "discover", "--postgres", s.URL("postgres"))
	cmdtest.Must(t, s.Resume())
	hung.Want(t, ui.ExitError, "not read", "this machine can reach it")
}
