package redlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

// TestRealClusterAsksReplicas: a cluster client asks any of its servers for the topology, here all the time and on new
// connections. Reaching a replica means no fault of the cluster, and no caller waits without a grant.
func TestRealClusterAsksReplicas(t *testing.T) {
	t.Parallel()
	c := locktest.Cluster(t, 3, redisproc.WithReplicas(1))
	given := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs(), ClusterStateReloadInterval: time.Millisecond, ConnMaxLifetime: 100 * time.Millisecond,
	})
	t.Cleanup(func() { must(t, given.Close()) })
	l := newLocker(t, []redis.UniversalClient{given}, lock.WithNodeTimeout(5*nodeTimeout))
	asked := func() (n int) { // of the replicas; nobody else asks them for CLUSTER SLOTS
		for i := range c.Servers() {
			for _, s := range c.Replicas(i) {
				admin := plainClient(t, &redis.Options{Addr: s.Addr()})
				if statsOf(admin.Info(t.Context(), "commandstats").Val(), "cluster|slots") != "" {
					n++
				}
				must(t, admin.Close())
			}
		}
		return n
	}
	resources := []string{"a", "b", "c", "d", "e", "f"} // enough to cover the slots of every master
	eventually(t, waitTime, "every replica is asked for the topology", func() bool {
		for _, resource := range resources {
			lease, err := l.Acquire(t.Context(), resource, lock.TTL(longTTL), lock.MaxWait(waitTime))
			if err != nil {
				t.Fatal(err)
			}
			must(t, lease.Release(t.Context()))
		}
		return asked() == len(c.Servers())
	})
}

// TestRealClusterMasterEvicts: one of three masters gets a policy that evicts while clients are connected. Every
// connection learns it, whichever master it shows, and the cluster votes again once the policy is mended.
func TestRealClusterMasterEvicts(t *testing.T) {
	t.Parallel()
	c := locktest.Cluster(t, 3)
	given := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	t.Cleanup(func() { must(t, given.Close()) })
	clock := newSteppedClock()
	l := newLocker(t, []redis.UniversalClient{given}, lock.WithNodeTimeout(patience), engine.WithClock(clock.now))
	resources := []string{"a", "b", "c", "d", "e", "f"} // enough to cover the slots of every master
	votes := func() error {
		for _, resource := range resources {
			lease, err := l.Acquire(t.Context(), resource, lock.TTL(longTTL), lock.NoWait())
			if err != nil {
				return err
			}
			must(t, lease.Release(t.Context()))
		}
		return nil
	}
	must(t, votes())
	one := plainClient(t, &redis.Options{Addr: c.Servers()[1].Addr()})
	set := func(policy, limit string) {
		must(t, one.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		must(t, one.ConfigSet(t.Context(), "maxmemory", limit).Err())
		clock.step(2 * time.Second)
	}
	set("allkeys-lru", "100mb")
	eventually(t, settleTime, "the cluster is refused", func() bool { return errors.Is(votes(), driver.ErrEvicting) })
	clock.step(2 * time.Second)
	wantErr(t, votes(), driver.ErrEvicting)
	set("noeviction", "0")
	eventually(t, settleTime, "the cluster votes again", func() bool { return votes() == nil })
}

// TestRealClusterMasterDies: a process that only holds a lease renews it on the promoted replica. go-redis reads the
// topology every minute, and no other server tells it of a master that refuses connections.
func TestRealClusterMasterDies(t *testing.T) {
	t.Parallel()
	c := locktest.Cluster(t, 3, redisproc.WithReplicas(1))
	given := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	t.Cleanup(func() { must(t, given.Close()) })
	l := newLocker(t, []redis.UniversalClient{given}, lock.WithNodeTimeout(patience))
	i := hashslot.Of("lock:job") * 3 / hashslot.Count
	lease := acquire(t, l, "job", lock.TTL(longTTL), lock.NoRenew())
	admin := plainClient(t, &redis.Options{Addr: c.Replicas(i)[0].Addr()})
	must(t, c.Servers()[i].Kill())
	eventually(t, waitTime, "the replica is promoted", func() bool {
		return strings.Contains(admin.Info(t.Context(), "replication").Val(), "role:master")
	})
	eventually(t, settleTime, "the lease is renewed there", func() bool { return lease.Extend(t.Context()) == nil })
	must(t, lease.Release(t.Context()))
}
