package zklock_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/locktest/compare"
)

// floor is what no lock can do without: two proposals, and nothing else.
func floor(b *testing.B, servers []string) compare.Pair {
	conn, anyone := connect(b, servers), zk.WorldACL(zk.PermAll)
	if _, err := conn.Create("/floor", nil, zk.FlagPersistent, anyone); err != nil {
		b.Fatal(err)
	}
	return func(resource string, work func()) error {
		path, err := conn.Create("/floor/"+resource, nil, zk.FlagEphemeral|zk.FlagSequence, anyone)
		if err != nil {
			return err
		}
		work()
		return conn.Delete(path, -1)
	}
}

var peers = []compare.Peer{
	{Name: "zk.Lock", Client: func(b *testing.B, servers []string) compare.Pair {
		conn := connect(b, servers)
		return func(resource string, work func()) error {
			l := zk.NewLock(conn, "/locks/"+resource, zk.WorldACL(zk.PermAll))
			if err := l.Lock(); err != nil {
				return err
			}
			work()
			return l.Unlock()
		}
	}},
	{Name: "zklock", Client: func(b *testing.B, servers []string) compare.Pair {
		l := open(b, servers)
		return func(resource string, work func()) error {
			return lock.Do(context.Background(), l, resource,
				func(context.Context, lock.Lease) error { work(); return nil })
		}
	}},
}

// BenchmarkPair is a lock that nobody contends for, on servers that wait for the disk.
func BenchmarkPair(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n, " servers"), func(b *testing.B) {
			servers := ensemble(b, n, zkproc.WithSync()).Addrs()
			compare.Pairs(b, servers, append([]compare.Peer{{Name: "floor", Client: floor}}, peers...))
		})
	}
}

// BenchmarkHandOffs is how often a second the lock changes hands, between processes that want it all the time.
func BenchmarkHandOffs(b *testing.B) {
	compare.HandOffs(b, "BenchmarkContender", ensemble(b, 1, zkproc.WithSync()).Addrs(), peers)
}

// BenchmarkContender is one of these.
func BenchmarkContender(b *testing.B) { compare.Contender(b, peers) }

// BenchmarkConstructs is a reader, a writer and a permit that nobody contends for, beside a lock.
func BenchmarkConstructs(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n, " servers"), func(b *testing.B) {
			servers := ensemble(b, n, zkproc.WithSync()).Addrs()
			compare.Pairs(b, servers, compare.Constructs(
				func(b *testing.B, servers []string) lock.Locker { return open(b, servers) }))
		})
	}
}
