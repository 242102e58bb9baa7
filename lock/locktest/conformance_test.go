package locktest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// A silent node must be told from a busy machine.
const (
	nodeTimeout = 1250 * time.Millisecond
	ttl         = 4 * nodeTimeout
)

// everything is what nodes in memory and single servers can do.
var everything = driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true, SlotQueue: true}

func TestLockerOnFakes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, locktest.Driver{
				Start:        func(t testing.TB) locktest.Maker { return locktest.NewFakes(t, n) },
				Capabilities: everything,
			})
		})
	}
}

func TestLockerOnRedis(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, n)
			d := locktest.Driver{Capabilities: everything, TTL: ttl}
			d.New = func(t testing.TB, opts ...lock.Option) lock.Locker {
				var clients []redis.UniversalClient
				for _, s := range servers {
					clients = append(clients, redis.NewClient(&redis.Options{Addr: s.Addr()}))
				}
				return newLocker(t, clients, opts...)
			}
			if n > 1 {
				d.Fault = func(t testing.TB) { hangsAndDies(t, servers[n-1]) }
			}
			locktest.Run(t, d)
		})
	}
}

// hangsAndDies: the other servers are a majority.
func hangsAndDies(t testing.TB, s *redisproc.Server) {
	for _, fault := range []func() error{s.Pause, s.Resume, s.Kill} {
		if err := fault(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
	}
}

// TestLockerOnRedisCluster, where all keys of a lock have to be in one slot.
func TestLockerOnRedisCluster(t *testing.T) {
	t.Parallel()
	cluster := locktest.Cluster(t, 3)
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			return newLocker(t,
				[]redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})}, opts...)
		},
		Capabilities: driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true},
		TTL:          ttl,
	})
}

// newLocker returns a Redlock on servers that were empty from the start.
func newLocker(t testing.TB, clients []redis.UniversalClient, opts ...lock.Option) lock.Locker {
	base := []lock.Option{redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(nodeTimeout)}
	l, err := redlock.New(clients, append(base, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range clients {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return l
}
