package etcdlock_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/locktest/compare"
)

func connect(b *testing.B, endpoints []string) *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 10 * time.Second})
	must(b, err)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// floor is what no lock can do without: two proposals, a put and a delete.
func floor(b *testing.B, servers []string) compare.Pair {
	c, ctx := connect(b, servers), context.Background()
	lease, err := c.Grant(ctx, 600)
	must(b, err)
	return func(resource string, work func()) error {
		if _, err := c.Put(ctx, "floor/"+resource, "x", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		work()
		_, err := c.Delete(ctx, "floor/"+resource)
		return err
	}
}

var peers = []compare.Peer{
	{Name: "Mutex", Client: func(b *testing.B, servers []string) compare.Pair {
		session, err := concurrency.NewSession(connect(b, servers))
		must(b, err)
		b.Cleanup(func() { _ = session.Close() })
		return func(resource string, work func()) error {
			m := concurrency.NewMutex(session, "mutex/"+resource)
			if err := m.Lock(context.Background()); err != nil {
				return err
			}
			work()
			return m.Unlock(context.Background())
		}
	}},
	{Name: "etcdlock", Client: func(b *testing.B, servers []string) compare.Pair {
		l := open(b, servers)
		return func(resource string, work func()) error {
			return lock.Do(context.Background(), l, resource,
				func(context.Context, lock.Lease) error { work(); return nil })
		}
	}},
}

// onDisk starts a cluster that waits for it.
func onDisk(b *testing.B, members int) []string {
	b.Setenv("LOCKSCOPE_ETCD_DIR", os.TempDir())
	return cluster(b, members).Endpoints()
}

// BenchmarkPair is a lock that nobody contends for.
func BenchmarkPair(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members, " members"), func(b *testing.B) {
			compare.Pairs(b, onDisk(b, members),
				append([]compare.Peer{{Name: "floor", Client: floor}}, peers...))
		})
	}
}

// BenchmarkHandOffs is how often a second the lock changes hands, between processes that want it all the time.
func BenchmarkHandOffs(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members, " members"), func(b *testing.B) {
			compare.HandOffs(b, "BenchmarkContender", onDisk(b, members), peers)
		})
	}
}

// BenchmarkContender is one of these.
func BenchmarkContender(b *testing.B) { compare.Contender(b, peers) }

// BenchmarkConstructs is a reader, a writer and a permit that nobody contends for, beside a lock.
func BenchmarkConstructs(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members, " members"), func(b *testing.B) {
			compare.Pairs(b, onDisk(b, members), compare.Constructs(open))
		})
	}
}

func open(b *testing.B, servers []string) lock.Locker {
	l, err := etcdlock.New(connect(b, servers), lock.WithNodeTimeout(time.Second))
	must(b, err)
	b.Cleanup(func() { must(b, l.Close()) })
	return l
}

// BenchmarkPermitHandOffs is how often a second the permits of a semaphore change hands.
func BenchmarkPermitHandOffs(b *testing.B) {
	servers := onDisk(b, 3)
	compare.PermitHandOffs(b, func(b *testing.B) lock.Locker { return open(b, servers) })
}
