package etcdlock_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func cluster(t testing.TB, members int, options ...string) *etcdproc.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := etcdproc.Start(ctx, members, options...)
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c
}

func client(t testing.TB, c *etcdproc.Cluster) *clientv3.Client {
	t.Helper()
	client, err := c.Client()
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// locker is one process among others.
func locker(t testing.TB, c *etcdproc.Cluster, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := etcdlock.New(client(t, c), append([]lock.Option{lock.WithNodeTimeout(time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// A node that does not answer must not be mistaken for a machine that is busy.
const (
	nodeTimeout = 1500 * time.Millisecond
	suiteTTL    = 4 * nodeTimeout
)

// TestConformance, of three members whose leader hangs, goes on and is killed.
func TestConformance(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	conform(t, c, func(t testing.TB) {
		leader, err := c.Leader(t.Context())
		must(t, err)
		must(t, leader.Pause())
		time.Sleep(2 * time.Second)
		must(t, leader.Resume())
		time.Sleep(time.Second)
		must(t, leader.Kill())
	})
}

func TestConformanceOfOneMember(t *testing.T) {
	t.Parallel()
	conform(t, cluster(t, 1), nil)
}

func conform(t *testing.T, c *etcdproc.Cluster, fault func(testing.TB)) {
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			return locker(t, c, append(opts, lock.WithNodeTimeout(nodeTimeout))...)
		},
		Capabilities: driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true},
		ReaderFences: true, TTL: suiteTTL, Fault: fault,
	})
}
