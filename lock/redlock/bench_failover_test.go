package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

const (
	failoverLeases = 100
	failoverTTL    = 10 * time.Second
	// failoverLimit is longer than go-redis keeps a cluster's topology.
	failoverLimit = 80 * time.Second
	// addressMoves is how long after a promotion an operator's script has moved the address.
	addressMoves = 100 * time.Millisecond
)

// shard is a master with replicas, and what leads clients to the present one.
type shard struct {
	client   func() redis.UniversalClient
	master   *redisproc.Server
	replicas []*redisproc.Server
	owns     func(resource string) bool
	outside  func(context.Context) error // moves the address, or asks the Sentinel to fail over; nil if the servers do it all
}

// BenchmarkFailover holds leases while their master hands over or dies. It reports how many were lost, how many
// resources a second process got while their first lease was valid, and the time to the first grant of the new master.
// Run it with -benchtime=1x.
func BenchmarkFailover(b *testing.B) {
	kill := func(_ context.Context, s *shard) error { return s.master.Kill() }
	for _, c := range []struct {
		name   string
		start  func(testing.TB) *shard
		strike func(context.Context, *shard) error
	}{
		{"address/FAILOVER-TO", addressedShard, failoverTo},
		{"sentinel/SENTINEL-FAILOVER", sentinelShard, askSentinel},
		{"sentinel/CLIENT-PAUSE", sentinelShard, pauseAndAskSentinel},
		{"sentinel/kill", sentinelShard, kill},
		{"cluster/CLUSTER-FAILOVER", clusterShard, clusterFailover},
		{"cluster/kill", clusterShard, kill},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				benchFailover(b, c.start(b), c.strike)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchFailover(b *testing.B, s *shard, strike func(context.Context, *shard) error) {
	open := func() *engine.Engine {
		given := s.client()
		b.Cleanup(func() { _ = given.Close() })
		l, err := redlock.New([]redis.UniversalClient{given})
		must(b, err)
		b.Cleanup(func() { _ = l.Close() })
		return l
	}
	w := &failoverWatch{leases: make(map[string]lock.Lease), doubles: make(map[string]bool)}
	holder, rival, other := open(), open(), open()
	var held []lock.Lease
	for _, resource := range s.resources("held", failoverLeases) {
		held = append(held, w.add(resource, acquire(b, holder, resource, lock.TTL(failoverTTL))))
	}
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { w.compete(ctx, rival) })
	must(b, acquire(b, other, s.resources("warm", 1)[0]).Release(ctx))
	time.Sleep(failoverTTL / 2) // each lease was renewed, so the renewals are spread

	began := time.Now()
	struck := make(chan error, 1)
	go func() { struck <- strike(ctx, s) }()
	took := s.untilGrant(ctx, other, w, began)
	must(b, <-struck)
	time.Sleep(failoverTTL + failoverTTL/2) // a lease that was not renewed is over
	cancel()
	watching.Wait()
	if took == 0 {
		b.Errorf("no grant within %v", failoverLimit)
	}
	lost, doubles := 0, 0
	for _, lease := range held {
		if errors.Is(context.Cause(lease.Context()), lock.ErrLost) {
			lost++
		}
		if w.doubles[lease.Resource()] {
			doubles++
		}
	}
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(float64(doubles), "doubles")
	b.ReportMetric(float64(len(w.doubles)-doubles), "doubles-of-new")
	b.ReportMetric(took.Seconds(), "s-to-grant")
}

// failoverWatch has the leases that a second process must not get.
type failoverWatch struct {
	mu      sync.Mutex
	leases  map[string]lock.Lease
	doubles map[string]bool // by resource
}

func (w *failoverWatch) add(resource string, lease lock.Lease) lock.Lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases[resource] = lease
	return lease
}

func (w *failoverWatch) all() map[string]lock.Lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.leases)
}

// compete tries to get each resource all the time.
func (w *failoverWatch) compete(ctx context.Context, l lock.Locker) {
	for ctx.Err() == nil {
		for resource, first := range w.all() {
			lease, err := l.Acquire(ctx, resource, lock.NoWait(), lock.TTL(failoverTTL), lock.NoRenew())
			if err != nil {
				continue
			}
			if first.Context().Err() == nil {
				w.doubles[resource] = true
			}
			_ = lease.Release(ctx)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// untilGrant acquires one resource after another, and keeps them. It returns how long after began a promoted replica
// granted one.
func (s *shard) untilGrant(ctx context.Context, l lock.Locker, w *failoverWatch, began time.Time) time.Duration {
	var admins []*redis.Client
	for _, r := range s.replicas {
		admin := redis.NewClient(&redis.Options{Addr: r.Addr()})
		defer admin.Close()
		admins = append(admins, admin)
	}
	for i := 0; time.Since(began) < failoverLimit; i++ {
		promoted := slices.IndexFunc(admins, func(admin *redis.Client) bool {
			return strings.Contains(admin.Info(ctx, "replication").Val(), "role:master")
		})
		resource := s.resources("new"+strconv.Itoa(i), 1)[0]
		lease, err := l.Acquire(ctx, resource, lock.NoWait(), lock.TTL(failoverTTL))
		if err == nil {
			took := time.Since(began)
			w.add(resource, lease)
			if promoted >= 0 && admins[promoted].Exists(ctx, "lock:"+resource).Val() == 1 {
				return took
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}

// resources returns names whose locks are on the shard.
func (s *shard) resources(prefix string, n int) (all []string) {
	for i := 0; len(all) < n; i++ {
		if name := fmt.Sprintf("%s-%d", prefix, i); s.owns(name) {
			all = append(all, name)
		}
	}
	return all
}

func anyResource(string) bool { return true }

// replicated starts a master with two replicas.
func replicated(t testing.TB) *realNodes {
	f := startNodes(t, 3)
	for _, replica := range f.admin[1:] {
		must(t, f.admin[0].ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err())
		must(t, replica.SlaveOf(t.Context(), "127.0.0.1", portOf(f, 0)).Err())
		eventually(t, waitTime, "the replica is in sync", func() bool {
			return strings.Contains(replica.Info(t.Context(), "replication").Val(), "master_link_status:up")
		})
	}
	return f
}

// addressedShard has one address for its master, as a name or a balancer is.
func addressedShard(t testing.TB) *shard {
	f := replicated(t)
	name := proxyTo(t, f.servers[0])
	return &shard{
		client: func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: name.Addr()}) },
		master: f.servers[0], replicas: f.servers[1:], owns: anyResource,
		outside: func(ctx context.Context) error {
			return followMaster(ctx, f.admin[1], name.SetTarget, f.servers[1].Addr())
		},
	}
}

// followMaster moves an address to a replica once it is the master.
func followMaster(ctx context.Context, replica *redis.Client, move func(string), to string) error {
	for ctx.Err() == nil {
		if strings.Contains(replica.Info(ctx, "replication").Val(), "role:master") {
			time.Sleep(addressMoves)
			move(to)
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

func failoverTo(ctx context.Context, s *shard) error {
	admin := redis.NewClient(&redis.Options{Addr: s.master.Addr()})
	defer admin.Close()
	if err := admin.Do(ctx, "failover", "to", "127.0.0.1", s.replicas[0].Port(), "timeout", 5000).Err(); err != nil {
		return err
	}
	return s.outside(ctx)
}

func sentinelShard(t testing.TB) *shard {
	f := replicated(t)
	sentinel, err := redisproc.StartSentinel(t.Context(), f.servers[0], f.servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	admin := redis.NewSentinelClient(&redis.Options{Addr: sentinel.Addr()})
	t.Cleanup(func() { must(t, admin.Close()) })
	eventually(t, waitTime, "the sentinel knows both replicas", func() bool {
		known, err := admin.Replicas(t.Context(), redisproc.MasterName).Result()
		ready := 0
		for _, r := range known {
			if r["flags"] == "slave" && r["master-link-status"] == "ok" {
				ready++
			}
		}
		return err == nil && ready == 2
	})
	return &shard{
		client: func() redis.UniversalClient {
			return redis.NewFailoverClient(&redis.FailoverOptions{
				MasterName: redisproc.MasterName, SentinelAddrs: []string{sentinel.Addr()},
			})
		},
		master: f.servers[0], replicas: f.servers[1:], owns: anyResource,
		outside: func(ctx context.Context) error { return admin.Failover(ctx, redisproc.MasterName).Err() },
	}
}

func askSentinel(ctx context.Context, s *shard) error { return s.outside(ctx) }

// pauseAndAskSentinel keeps the old master from granting what the new one would not know.
func pauseAndAskSentinel(ctx context.Context, s *shard) error {
	admin := redis.NewClient(&redis.Options{Addr: s.master.Addr()})
	defer admin.Close()
	if err := admin.Do(ctx, "client", "pause", 5000, "write").Err(); err != nil {
		return err
	}
	return s.outside(ctx)
}

func clusterShard(t testing.TB) *shard {
	c := locktest.Cluster(t, 3, redisproc.WithReplicas(1))
	return &shard{
		client: func() redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
		},
		master: c.Servers()[0], replicas: c.Replicas(0),
		owns: func(resource string) bool { return hashslot.Of("lock:"+resource) < hashslot.Count/3 },
	}
}

func clusterFailover(ctx context.Context, s *shard) error {
	admin := redis.NewClient(&redis.Options{Addr: s.replicas[0].Addr()})
	defer admin.Close()
	return admin.ClusterFailover(ctx).Err()
}
