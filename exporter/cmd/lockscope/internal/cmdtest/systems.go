package cmdtest

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5/pgxpool"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// Executing has a server carry out statements.
func Executing(t testing.TB, db *pgxpool.Pool) func(sql string) {
	return func(sql string) {
		t.Helper()
		_, err := db.Exec(t.Context(), sql)
		Must(t, err)
	}
}

// Postgres is a server on which the role service may take locks.
func Postgres(t testing.TB, options ...string) *pgproc.Server {
	t.Helper()
	s, err := pgproc.Start(t.Context(), options...)
	Must(t, err)
	t.Cleanup(func() { Must(t, s.Stop()) })
	db := Database(t, s)
	Must(t, pglock.Migrate(t.Context(), db, pglock.DefaultSchema))
	_, err = db.Exec(t.Context(), "CREATE ROLE service LOGIN")
	Must(t, err)
	Must(t, pglock.Grant(t.Context(), db, pglock.DefaultSchema, "service"))
	return s
}

// Database connects as the owner.
func Database(t testing.TB, s *pgproc.Server) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(t.Context(), s.URL("postgres"))
	Must(t, err)
	t.Cleanup(db.Close)
	return db
}

// PostgresLocker takes locks in PostgreSQL under this name.
func PostgresLocker(t testing.TB, s *pgproc.Server, name string) *engine.Engine {
	t.Helper()
	l, err := pglock.Open(s.URL("service"), lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name),
		lock.WithCallSites())
	Must(t, err)
	t.Cleanup(func() { Must(t, l.Close()) })
	return l
}

// Etcd is a cluster and a client of it.
func Etcd(t testing.TB, members int, options ...string) (*etcdproc.Cluster, *clientv3.Client) {
	t.Helper()
	c, err := etcdproc.Start(t.Context(), members, options...)
	Must(t, err)
	t.Cleanup(func() { Must(t, c.Stop()) })
	client, err := c.Client()
	Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return c, client
}

// EtcdLocker takes locks in etcd under this name.
func EtcdLocker(t testing.TB, client *clientv3.Client, name string, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := etcdlock.New(client, append(opts, lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name))...)
	Must(t, err)
	t.Cleanup(func() { Must(t, l.Close()) })
	return l
}

// ZooKeeper is an ensemble.
func ZooKeeper(t testing.TB, servers int, opts ...zkproc.Option) *zkproc.Ensemble {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs ZooKeeper: make proof runs it")
	}
	e, err := zkproc.Start(t.Context(), servers, opts...)
	Must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.Report())
		}
		Must(t, e.Stop())
	})
	return e
}

// ZooKeeperLocker takes locks in ZooKeeper under this name.
func ZooKeeperLocker(t testing.TB, e *zkproc.Ensemble, name string) *engine.Engine {
	t.Helper()
	l, err := zklock.New(e.Addrs(), lock.WithNodeTimeout(2*time.Second), lock.WithInstance(name))
	Must(t, err)
	t.Cleanup(func() { Must(t, l.Close()) })
	return l
}

// ZooKeeperConn is a plain client of an ensemble.
func ZooKeeperConn(t testing.TB, e *zkproc.Ensemble) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(e.Addrs(), 30*time.Second, zk.WithLogger(Quiet{}))
	Must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range events {
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return conn
}

// Znode creates a node; its parent has to be there.
func Znode(t testing.TB, conn *zk.Conn, path string, flags int32) {
	t.Helper()
	_, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
	Must(t, err)
}

// Hold takes a lock for as long as the test runs.
func Hold(t testing.TB, l *engine.Engine, resource string) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), resource, lock.TTL(10*time.Second))
	Must(t, err)
	t.Cleanup(func() { _ = lease.Release(context.Background()) })
	return lease
}

// Queue waits for a lock until the test ends, in the context of what is held.
func Queue(t testing.TB, l *engine.Engine, holding context.Context, resource string) {
	t.Helper()
	ctx, giveUp := context.WithCancel(holding)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.Acquire(ctx, resource, lock.TTL(10*time.Second))
	}()
	t.Cleanup(func() { giveUp(); <-done })
}

// Quiet discards the log of a ZooKeeper client.
type Quiet struct{}

// Printf implements zk.Logger.
func (Quiet) Printf(string, ...any) {}
