package redisproc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestCluster(t *testing.T) {
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
	cluster, err := redisproc.StartCluster(withinTest(t), 1)
	must(t, err)
	must(t, client(t, cluster.Servers()[0]).Set(withinTest(t), "key", "value", 0).Err())
	must(t, cluster.Stop())
	must(t, cluster.Stop())
	if _, err := redisproc.StartCluster(withinTest(t), 0); err == nil {
		t.Error("a cluster of none started")
	}
}

func TestSentinelFailover(t *testing.T) {
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
