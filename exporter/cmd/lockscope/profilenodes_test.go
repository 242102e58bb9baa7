package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// profileNodes are servers of one product, and the redis-servers behind them.
type profileNodes struct {
	behind  []*redisproc.Server
	addrs   []string
	cluster bool
}

// startProfile starts three servers of a product, or its cluster.
func startProfile(t *testing.T, p profile) *profileNodes {
	t.Helper()
	n := &profileNodes{cluster: p.Masters > 0}
	if n.cluster {
		n.behind = locktest.Cluster(t, p.Masters).Servers()
	} else {
		n.behind = locktest.Servers(t, 3)
	}
	n.configure(t, "maxmemory", "100mb", "maxmemory-policy", p.Policy, "appendonly", "yes", "appendfsync", "always")
	for _, s := range n.behind {
		port := strconv.Itoa(p.listen(t, s.Addr()))
		n.addrs = append(n.addrs, "127.0.0.1:"+port)
		if n.cluster {
			admin := cmdtest.Admin(t, s)
			cmdtest.Must(t, admin.ConfigSet(t.Context(), "cluster-announce-ip", "127.0.0.1").Err())
			cmdtest.Must(t, admin.ConfigSet(t.Context(), "cluster-announce-bus-port", strconv.Itoa(s.Port()+10000)).Err())
			cmdtest.Must(t, admin.ConfigSet(t.Context(), "cluster-announce-port", port).Err())
		}
	}
	if n.cluster {
		n.awaitAnnounced(t)
	}
	return n
}

// configure changes the redis-servers behind.
func (n *profileNodes) configure(t *testing.T, pairs ...string) {
	t.Helper()
	for _, s := range n.behind {
		for pair := range slices.Chunk(pairs, 2) {
			cmdtest.Must(t, cmdtest.Admin(t, s).ConfigSet(t.Context(), pair[0], pair[1]).Err())
		}
	}
}

// awaitAnnounced waits until each node leads clients to the ports of the profile.
func (n *profileNodes) awaitAnnounced(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for _, s := range n.behind {
		admin := cmdtest.Admin(t, s)
		for {
			ranges, err := admin.ClusterSlots(t.Context()).Result()
			cmdtest.Must(t, err)
			elsewhere := func(r redis.ClusterSlot) bool { return !slices.Contains(n.addrs, r.Nodes[0].Addr) }
			if !slices.ContainsFunc(ranges, elsewhere) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s still leads to %v", s.Addr(), ranges)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// flags name the servers on the command line.
func (n *profileNodes) flags() []string {
	if n.cluster {
		return []string{"--cluster", "--redis", n.addrs[0]}
	}
	return []string{"--redis", strings.Join(n.addrs, ",")}
}

// clients are of all the nodes of a lock.
func (n *profileNodes) clients(t *testing.T) (all []redis.UniversalClient) {
	t.Helper()
	if n.cluster {
		all = append(all, redis.NewClusterClient(&redis.ClusterOptions{Addrs: n.addrs, DisableIdentity: true}))
	} else {
		for _, addr := range n.addrs {
			all = append(all, redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true}))
		}
	}
	t.Cleanup(func() {
		for _, c := range all {
			cmdtest.Must(t, c.Close())
		}
	})
	return all
}

// plant writes a lock without a TTL, as another library would, and returns its key.
func (n *profileNodes) plant(t *testing.T) string {
	t.Helper()
	c := n.clients(t)[0]
	const key = "lock:forgotten"
	cmdtest.Must(t, c.Set(t.Context(), key, fmt.Sprintf("%032x", 4711), 0).Err())
	return key
}
