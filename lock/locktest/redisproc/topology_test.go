package redisproc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	cluster, err := redisproc.StartCluster(withinTest(t), 3)
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Stop()) })
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { must(t, c.Close()) })

	const keys = 60
	for i := range keys {
		key := fmt.Sprint("key:", i)
		must(t, c.Set(withinTest(t), key, fmt.Sprint(i), 0).Err())
		wantValue(t, c, key, fmt.Sprint(i))
	}
	total := int64(0)
	for _, s := range cluster.Servers() {
		n, err := client(t, s).DBSize(withinTest(t)).Result()
		if err != nil || n == 0 {
			t.Errorf("%s holds %d keys, %v; want some on each master", s.Addr(), n, err)
		}
		total += n
	}
	if total != keys {
		t.Errorf("%d keys in all, want %d", total, keys)
	}
}

func TestClusterOfOne(t *testing.T) {
	t.Parallel()
	cluster, err := redisproc.StartCluster(withinTest(t), 1)
	must(t, err)
	must(t, client(t, cluster.Servers()[0]).Set(withinTest(t), "key", "value", 0).Err())
	must(t, cluster.Stop())
	must(t, cluster.Stop())
	if _, err := redisproc.StartCluster(withinTest(t), 0); err == nil {
		t.Error("a cluster of none started")
	}
	if _, err := redisproc.StartCluster(withinTest(t), 3, redisproc.WithReplicas(-1)); err == nil {
		t.Error("a cluster with less than no replicas started")
	}
}

func TestClusterWithReplicas(t *testing.T) {
	t.Parallel()
	const masters, each = 3, 2
	cluster, err := redisproc.StartCluster(withinTest(t), masters, redisproc.WithReplicas(each))
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Stop()) })
	if n := len(cluster.Servers()); n != masters {
		t.Errorf("%d masters, want %d", n, masters)
	}
	seen := map[int]bool{}
	for i, master := range cluster.Servers() {
		replicas := cluster.Replicas(i)
		if len(replicas) != each {
			t.Fatalf("master %d has %d replicas, want %d", i, len(replicas), each)
		}
		for _, replica := range replicas {
			seen[replica.Port()] = true
			wantReplica(t, client(t, replica), master)
		}
		wantListed(t, client(t, master), masters, 1+each)
		wantListed(t, client(t, replicas[0]), masters, 1+each)
	}
	if len(seen) != masters*each {
		t.Errorf("%d replicas in all, want %d", len(seen), masters*each)
	}
}

// wantReplica asks once, without retries: it must hold as soon as the cluster has started.
func wantReplica(t *testing.T, c *redis.Client, master *redisproc.Server) {
	t.Helper()
	role, err := c.Do(withinTest(t), "ROLE").Slice()
	must(t, err)
	if len(role) != 5 || role[0] != "slave" || role[2] != int64(master.Port()) || role[3] != "connected" {
		t.Errorf("ROLE of a replica: %v, want one in sync with the master on port %d", role, master.Port())
	}
}

// wantListed requires that this node lists all nodes to its clients.
func wantListed(t *testing.T, c *redis.Client, ranges, nodes int) {
	t.Helper()
	slots, err := c.ClusterSlots(withinTest(t)).Result()
	must(t, err)
	if len(slots) != ranges {
		t.Errorf("%d ranges of slots, want %d: %v", len(slots), ranges, slots)
	}
	for _, r := range slots {
		if len(r.Nodes) != nodes {
			t.Errorf("slots %d to %d at %v, want %d nodes", r.Start, r.End, r.Nodes, nodes)
		}
	}
}

func TestClusterFailover(t *testing.T) {
	t.Parallel()
	cluster, err := redisproc.StartCluster(withinTest(t), 3, redisproc.WithReplicas(1))
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Stop()) })
	master, replica := cluster.Servers()[0], cluster.Replicas(0)[0]
	m := client(t, master)
	must(t, m.Set(withinTest(t), "{b}", "before", 0).Err()) // b is in slot 3300, which the first master serves
	if n, err := m.Wait(withinTest(t), 1, 30*time.Second).Result(); n != 1 {
		t.Fatalf("WAIT: %d replicas have the write (%v), want 1", n, err)
	}
	must(t, master.Kill())
	r := client(t, replica)
	eventually(t, "the replica takes its master's place", func() bool {
		return r.Set(withinTest(t), "{b}after", "after", 0).Err() == nil
	})
	wantValue(t, r, "{b}", "before")
}

func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	master, replica := start(t), start(t)
	sentinel, err := redisproc.StartSentinel(withinTest(t), master, replica)
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	watcher := redis.NewSentinelClient(&redis.Options{Addr: sentinel.Addr()})
	defer watcher.Close()
	known, err := watcher.Replicas(withinTest(t), redisproc.MasterName).Result()
	if err != nil || len(known) != 1 || known[0]["port"] != fmt.Sprint(replica.Port()) ||
		known[0]["flags"] != "slave" || known[0]["master-link-status"] != "ok" {
		t.Errorf("the sentinel knows %v, %v; want the replica on port %d, in good health", known, err, replica.Port())
	}
	c := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:    redisproc.MasterName,
		SentinelAddrs: []string{sentinel.Addr()},
	})
	t.Cleanup(func() { must(t, c.Close()) })

	must(t, c.Set(withinTest(t), "key", "before", 0).Err())
	wantValue(t, client(t, master), "key", "before")
	must(t, master.Kill())
	eventually(t, "the failover client writes again", func() bool {
		return c.Set(withinTest(t), "key", "after", 0).Err() == nil
	})
	wantValue(t, client(t, replica), "key", "after")
	info, err := client(t, replica).Info(withinTest(t), "replication").Result()
	if err != nil || !strings.Contains(info, "role:master") {
		t.Errorf("the replica was not promoted (%v):\n%s", err, info)
	}
}
