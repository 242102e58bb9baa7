package locktest_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestLockerOnFakes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { locktest.TestLocker(t, locktest.NewFakes(t, n)) })
	}
}

func TestLockerOnRedis(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			servers := locktest.Servers(t, n)
			locktest.TestLocker(t, func(t testing.TB) lock.Locker {
				var clients []redis.UniversalClient
				for _, s := range servers {
					clients = append(clients, redis.NewClient(&redis.Options{Addr: s.Addr()}))
				}
				return newLocker(t, clients)
			})
		})
	}
}

func TestLockerOnRedisCluster(t *testing.T) {
	cluster := locktest.Cluster(t, 3)
	locktest.TestLocker(t, func(t testing.TB) lock.Locker {
		return newLocker(t, []redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})})
	})
}

// newLocker makes a Redlock on servers that were empty from the start.
func newLocker(t testing.TB, clients []redis.UniversalClient) lock.Locker {
	l, err := lock.New(clients, lock.WithRestartQuarantine(0))
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
