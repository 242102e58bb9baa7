package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
	"github.com/lockscope/lockscope/lock/zklock"
	"github.com/lockscope/lockscope/lock/zklock/zkproc"
)

// postgres is a server on which the role service may take locks.
func postgres(t *testing.T, options ...string) *pgproc.Server {
	t.Helper()
	s, err := pgproc.Start(t.Context(), options...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	db := database(t, s)
	must(t, pglock.Migrate(t.Context(), db, pglock.DefaultSchema))
	_, err = db.Exec(t.Context(), "CREATE ROLE service LOGIN")
	must(t, err)
	must(t, pglock.Grant(t.Context(), db, pglock.DefaultSchema, "service"))
	return s
}

// database connects as the owner.
func database(t *testing.T, s *pgproc.Server) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(t.Context(), s.URL("postgres"))
	must(t, err)
	t.Cleanup(db.Close)
	return db
}

func postgresLocker(t *testing.T, s *pgproc.Server, name string) *engine.Engine {
	t.Helper()
	l, err := pglock.Open(s.URL("service"), lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name), lock.WithCallSites())
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func etcd(t *testing.T, members int, options ...string) (*etcdproc.Cluster, *clientv3.Client) {
	t.Helper()
	c, err := etcdproc.Start(t.Context(), members, options...)
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	client, err := c.Client()
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return c, client
}

func etcdLocker(t *testing.T, client *clientv3.Client, name string, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := etcdlock.New(client, append(opts, lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name))...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func zookeeper(t *testing.T, servers int, opts ...zkproc.Option) *zkproc.Ensemble {
	t.Helper()
	e, err := zkproc.Start(t.Context(), servers, opts...)
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.Report())
		}
		must(t, e.Stop())
	})
	return e
}

func zookeeperLocker(t *testing.T, e *zkproc.Ensemble, name string) *engine.Engine {
	t.Helper()
	l, err := zklock.New(e.Addrs(), lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// hold takes a lock for as long as the test runs.
func hold(t *testing.T, l *engine.Engine, resource string) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), resource, lock.TTL(10*time.Second))
	must(t, err)
	t.Cleanup(func() { _ = lease.Release(context.Background()) })
	return lease
}

// queue waits for a lock until the test ends, in the context of what is held.
func queue(t *testing.T, l *engine.Engine, holding context.Context, resource string) {
	t.Helper()
	ctx, giveUp := context.WithCancel(holding)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.Acquire(ctx, resource, lock.TTL(10*time.Second))
	}()
	t.Cleanup(func() { giveUp(); <-done })
}

// TestListSideBySide reads all four systems in one call, in one order, and what waits there.
func TestListSideBySide(t *testing.T) {
	redis := locktest.Servers(t, 1)[0]
	set(t, admin(t, redis), "lock:order:redis", ours, time.Minute)
	pg := postgres(t)
	_, client := etcd(t, 1)
	zk := zookeeper(t, 1)
	args := []string{
		"list", "--redis", redis.Addr(), "--postgres", pg.URL("service"), "--etcd", strings.Join(client.Endpoints(), ","), "--zookeeper", strings.Join(zk.Addrs(), ","),
		"--etcd-fence-key", "fences/base",
	}
	fenceKey := etcdlock.WithFenceKey("fences/base")
	fences := map[string]uint64{
		"postgresql": hold(t, postgresLocker(t, pg, "pg-1"), "order:pg").Fence(),
		"etcd":       hold(t, etcdLocker(t, client, "etcd-1", fenceKey), "order:etcd").Fence(),
		"zookeeper":  hold(t, zookeeperLocker(t, zk, "zk-1"), "order:zk").Fence(),
	}
	queue(t, postgresLocker(t, pg, "pg-2"), t.Context(), "order:pg")
	queue(t, etcdLocker(t, client, "etcd-2", fenceKey), t.Context(), "order:etcd")
	queue(t, zookeeperLocker(t, zk, "zk-2"), t.Context(), "order:zk")
	session, err := concurrency.NewSession(client)
	must(t, err)
	defer func() { must(t, session.Close()) }()
	must(t, concurrency.NewMutex(session, etcdlock.MutexPrefix(lock.DefaultPrefix, "plain")).Lock(t.Context()))

	var r listReport
	eventually(t, "all waiters are there", func() bool {
		o := command(t, append(args, "-o", "json", "--sort", "resource", "--filter", "order:*")...)
		o.want(t, exitClean)
		o.decode(t, &r)
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
		if known := l.TTL != nil && *l.TTL > 0 && *l.TTL <= 60; known == (l.Backend == "zookeeper") || l.TTLUnknown == known {
			t.Errorf("%s: TTL %v, unknown: %v", l.Backend, l.TTL, l.TTLUnknown)
		}
	}
	if got := fmt.Sprint(order); got != "[etcd postgresql redis zookeeper]" || len(r.Nodes) != 4 || r.Unknown != "" {
		t.Errorf("%s, %+v", got, r)
	}
	o := command(t, append(args, "--waiters")...)
	o.want(t, exitClean, "BACKEND     RESOURCE", "postgresql  order:pg", "pg-2", "etcd-2", "zk-2", "zookeeper   order:zk", "its holder's session ends", "plain")
	o = command(t, append(args, "--limit", "2", "--sort", "age")...)
	o.want(t, exitClean, "order:redis", "... and 3 more")
	command(t, "list", "--zookeeper", zk.Addrs()[0], "--filter", "nothing").want(t, exitClean, "no locks\n")
}

// TestListDeadlockInPostgres is a cycle over two processes, told from what waiters say that they hold.
func TestListDeadlockInPostgres(t *testing.T) {
	pg := postgres(t)
	p1, p2 := postgresLocker(t, pg, "orders-1"), postgresLocker(t, pg, "stock-2")
	a, b := hold(t, p1, "order"), hold(t, p2, "stock")
	queue(t, p1, a.Context(), "stock")
	queue(t, p2, b.Context(), "order")
	args := []string{"list", "--postgres", pg.URL("service")}
	var r listReport
	eventually(t, "the deadlock is found", func() bool {
		command(t, append(args, "-o", "json")...).decode(t, &r)
		return len(r.Deadlocks) == 1
	})
	o := command(t, append(args, "--waiters")...)
	o.want(t, exitClean, `DEADLOCK: "order" (fence `, `the holder of "order" waits for "stock"`, "lockscope/listbackends_test.go:")
	o.wantNot(t, "BACKEND")
}

// TestListOfWhatCannotBeRead shows the rest, and names system, address and remedy without a password.
func TestListOfWhatCannotBeRead(t *testing.T) {
	pg := postgres(t)
	hold(t, postgresLocker(t, pg, "pg-1"), "order")
	_, err := database(t, pg).Exec(t.Context(), "CREATE ROLE stranger LOGIN PASSWORD 's3cr3t'")
	must(t, err)
	pgAddr := fmt.Sprint("127.0.0.1:", pg.Port())
	o := command(t, "list", "--postgres", pg.URL("service"), "--etcd", "127.0.0.1:1", "--zookeeper", "127.0.0.1:2", "--redis", "127.0.0.1:3")
	o.want(t, exitError, "order", "pg-1", "etcd 127.0.0.1:1: ", "zookeeper 127.0.0.1:2: ", "127.0.0.1:3", "may this machine reach it?")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"nobody is there":   {[]string{"--postgres", "postgres://u:s3cr3t@127.0.0.1:4/db"}, []string{"postgresql 127.0.0.1:4: ", "may this machine reach it?", "not read"}},
		"a poor role":       {[]string{"--postgres", strings.Replace(pg.URL("stranger"), "@", ":s3cr3t@", 1)}, []string{"postgresql " + pgAddr, "pglock.Grant"}},
		"no such schema":    {[]string{"--postgres", pg.URL("postgres"), "--schema", "missing"}, []string{"Migrate", "--schema"}},
		"a bad schema":      {[]string{"--postgres", pg.URL("postgres"), "--schema", "a\";"}, []string{"--schema"}},
		"no URL":            {[]string{"--postgres", "postgres://u:s3cr3t@h:63x9/db"}, []string{"--postgres"}},
		"two passwords":     {[]string{"--postgres", "host=h", "--postgres-password-file", "/dev/null"}, []string{"which one counts"}},
		"etcd with a user":  {[]string{"--etcd", "http://u:s3cr3t@h:2379"}, []string{"etcd endpoint 1", "--etcd-username"}},
		"etcd, TLS unasked": {[]string{"--etcd", "http://h:2379", "--tls-insecure-skip-verify"}, []string{"https://"}},
		"no server":         {[]string{"--zookeeper", "u:s3cr3t@h:1"}, []string{"ZooKeeper server 1"}},
		"no root":           {[]string{"--zookeeper", "h:1", "--zookeeper-root", "locks"}, []string{"--zookeeper-root"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := commandWith(t, []string{"LOCKSCOPE_POSTGRES_PASSWORD=s3cr3t"}, "", append([]string{"list"}, c.args...)...)
			o.want(t, exitError, c.says...)
			o.wantNot(t, "s3cr3t", `\t`)
		})
	}
}

// TestListOfAStandby has the locks, and says that it does not know who waits.
func TestListOfAStandby(t *testing.T) {
	pg := postgres(t)
	hold(t, postgresLocker(t, pg, "pg-1"), "order")
	standby, err := pg.Standby(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, standby.Stop()) })
	command(t, "list", "--postgres", standby.URL("service")).want(t, exitClean, "order", "pg-1", "who waits is not known", "recovery")
}

// TestBackendVariables name systems as their flags do; REDIS_URL is a platform's, and counts where nothing is named.
func TestBackendVariables(t *testing.T) {
	pg := postgres(t, "password_encryption=scram-sha-256")
	hold(t, postgresLocker(t, pg, "pg-1"), "order")
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("s3cr3t\n"), 0o600))
	env := []string{"LOCKSCOPE_POSTGRES=" + pg.URL("service"), "REDIS_URL=redis://127.0.0.1:1"}
	commandWith(t, env, "", "list").want(t, exitClean, "pg-1")
	commandWith(t, env, "", "list", "--postgres-password-file", file).want(t, exitClean, "pg-1")
	commandWith(t, append(env, "LOCKSCOPE_ETCD=127.0.0.1:1"), "", "list").want(t, exitError, "pg-1", "etcd 127.0.0.1:1")
	commandWith(t, []string{"REDIS_URL=redis://127.0.0.1:1"}, "", "list").want(t, exitError, "127.0.0.1:1")
	command(t, "list").want(t, exitError, "no Redis server is named")
}

// TestGlobExpression matches names as Redis does.
func TestGlobExpression(t *testing.T) {
	for glob, c := range map[string]struct{ yes, no string }{
		"order:*":   {"order:a/b\nc", "xorder:1"},
		"a?c":       {"abc", "ac"},
		"[ab]c":     {"bc", "cc"},
		"[^ab]c":    {"cc", "ac"},
		"[a-c]1":    {"b1", "d1"},
		`\*x`:       {"*x", "ax"},
		"a.b":       {"a.b", "axb"},
		"[z-a]":     {"[z-a]", "b"},
		"*[[:]abc*": {"x[abc", "xabc"},
		`[\d\]]x`:   {"]x", "1x"},
		"*+(":       {"a+(", "a"},
	} {
		match := (&listFlags{filter: glob}).filterFunc()
		if !match(c.yes) || match(c.no) {
			t.Errorf("%s: %q %v, %q %v", glob, c.yes, match(c.yes), c.no, match(c.no))
		}
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
