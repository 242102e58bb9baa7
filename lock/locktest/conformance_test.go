package locktest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// A silent node must be told from a busy machine.
const (
	nodeTimeout = 2 * time.Second
	ttl         = 4 * nodeTimeout
)

func TestLockerOnFakes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			locktest.TestLockerInFakeTime(t,
				func(t testing.TB) func(testing.TB) lock.Locker { return locktest.NewFakes(t, n) }, locktest.WithPeek())
		})
	}
}

func TestLockerOnRedis(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, n)
			locktest.TestLocker(t, func(t testing.TB) lock.Locker {
				var clients []redis.UniversalClient
				for _, s := range servers {
					clients = append(clients, redis.NewClient(&redis.Options{Addr: s.Addr()}))
				}
				return newLocker(t, clients)
			}, locktest.WithTTL(ttl), locktest.WithPeek())
		})
	}
}

func TestLockerOnRedisCluster(t *testing.T) {
	t.Parallel()
	cluster := locktest.Cluster(t, 3)
	locktest.TestLocker(t, func(t testing.TB) lock.Locker {
		return newLocker(t,
			[]redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})})
	}, locktest.WithTTL(ttl), locktest.WithPeek())
}

func TestRevokeOnFakes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			locktest.TestRevokeInFakeTime(t,
				func(t testing.TB) func(testing.TB) lock.Locker { return locktest.NewFakes(t, n) })
		})
	}
}

func TestRevokeOnRedis(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, n)
			locktest.TestRevoke(t, func(t testing.TB) lock.Locker {
				var clients []redis.UniversalClient
				for _, s := range servers {
					clients = append(clients, redis.NewClient(&redis.Options{Addr: s.Addr()}))
				}
				return newLocker(t, clients)
			}, locktest.WithTTL(ttl))
		})
	}
}

// newLocker returns a Redlock on servers that were empty from the start.
func newLocker(t testing.TB, clients []redis.UniversalClient) lock.Locker {
	l, err := redlock.New(clients, redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(nodeTimeout))
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
