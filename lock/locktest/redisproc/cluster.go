package redisproc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const slotCount = 16384

// Cluster is a Redis Cluster whose masters share the slots evenly.
type Cluster struct {
	masters  []*Server
	replicas []*Server // those of the first master come first
	each     int       // replicas of a master
}

// ClusterOption changes how a cluster is started.
type ClusterOption func(*Cluster)

// WithReplicas gives each master n replicas, instead of none. When a master has been down for two seconds, the other
// masters let one of its replicas take its place; that takes a majority of the masters, so three of them at least.
func WithReplicas(n int) ClusterOption {
	return func(c *Cluster) { c.each = n }
}

// StartCluster starts the masters and their replicas, joins them, and returns when each of them finds the cluster
// complete and the replicas are in sync. That takes a little over two seconds, with replicas up to two more: a master
// waits before it trusts what it sees, and word of the replicas has to get around. Bounds and errors are those of
// [Start].
func StartCluster(ctx context.Context, masters int, opts ...ClusterOption) (*Cluster, error) {
	c := &Cluster{}
	for _, opt := range opts {
		opt(c)
	}
	if masters < 1 || c.each < 0 {
		return nil, fmt.Errorf("redisproc: a cluster of %d masters with %d replicas each", masters, c.each)
	}
	servers, err := StartN(ctx, masters*(1+c.each),
		WithArgs("--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
			// A replica is not listed before its master has sent it something, be it a ping; that takes 10 seconds by
			// default.
			"--repl-ping-replica-period", "1"))
	if err != nil {
		return nil, err
	}
	c.masters, c.replicas = servers[:masters:masters], servers[masters:]
	if err := c.form(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redisproc: form cluster: %w", err), c.Stop())
	}
	return c, nil
}

// form does by hand what redis-cli --cluster create does, which is not installed everywhere and asks questions.
func (c *Cluster) form(ctx context.Context) error {
	servers := c.all()
	nodes := make([]*redis.Client, len(servers))
	for i, s := range servers {
		nodes[i] = adminClient(s)
		defer nodes[i].Close()
		// Distinct epochs, so that no two nodes conflict.
		if err := nodes[i].Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
	}
	masters, replicas := nodes[:len(c.masters)], nodes[len(c.masters):]
	for i, master := range masters {
		if err := assign(ctx, master, i, len(masters)); err != nil {
			return err
		}
	}
	for _, s := range servers[1:] {
		if err := nodes[0].ClusterMeet(ctx, loopback, strconv.Itoa(s.port)).Err(); err != nil {
			return err
		}
	}
	for i, replica := range replicas {
		if err := follow(ctx, masters[i/c.each], replica); err != nil {
			return err
		}
	}
	for _, replica := range replicas {
		if err := awaitSync(ctx, replica); err != nil {
			return err
		}
	}
	for _, node := range nodes {
		if err := poll(ctx, nil, func(ctx context.Context) error { return c.checkComplete(ctx, node) }); err != nil {
			return err
		}
	}
	return nil
}

// assign gives master i of n its share of the slots.
func assign(ctx context.Context, master *redis.Client, i, n int) error {
	first, next := i*slotCount/n, (i+1)*slotCount/n
	// go-redis sends this as ADDSLOTS with every slot: ADDSLOTSRANGE is missing before Redis 7.
	return master.ClusterAddSlotsRange(ctx, first, next-1).Err()
}

// follow makes a node a replica of the master; it gets in sync in its own time.
func follow(ctx context.Context, master, replica *redis.Client) error {
	if err := sendAtOnce(ctx, master); err != nil {
		return err
	}
	id, err := master.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	// It is an error until the node has met the master.
	return poll(ctx, nil, func(ctx context.Context) error { return replica.ClusterReplicate(ctx, id).Err() })
}

// checkComplete returns nil if the node sees all masters, each with replicas that can be read. CLUSTER SLOTS omits
// replicas that the node does not know to be in sync.
func (c *Cluster) checkComplete(ctx context.Context, node *redis.Client) error {
	info, err := node.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	fields := strings.Fields(info)
	if !slices.Contains(fields, "cluster_state:ok") ||
		!slices.Contains(fields, "cluster_size:"+strconv.Itoa(len(c.masters))) {
		return fmt.Errorf("node %v sees an incomplete cluster: %q", node, fields)
	}
	ranges, err := node.ClusterSlots(ctx).Result()
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if len(r.Nodes) != 1+c.each {
			return fmt.Errorf("node %v sees slots %d to %d at %v", node, r.Start, r.End, r.Nodes)
		}
	}
	return nil
}

// adminClient fails at once and says why; the caller polls.
func adminClient(s *Server) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.Addr(), PoolSize: 1, MaxRetries: -1, DisableIdentity: true})
}

func (c *Cluster) all() []*Server { return slices.Concat(c.masters, c.replicas) }

// Servers returns the masters, to pause, kill and restart; those that were so at the start, if there was a failover
// since. The caller may change the slice.
func (c *Cluster) Servers() []*Server { return slices.Clone(c.masters) }

// Replicas returns the replicas that [WithReplicas] asked for of the given one of [Cluster.Servers]; those that were so
// at the start, if there was a failover since. The caller may change the slice.
func (c *Cluster) Replicas(master int) []*Server {
	return slices.Clone(c.replicas[master*c.each : (master+1)*c.each])
}

// Addrs returns the masters' addresses, as redis.ClusterOptions wants them.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.masters))
	for i, s := range c.masters {
		addrs[i] = s.Addr()
	}
	return addrs
}

// Stop stops every master and replica like [Server.Stop].
func (c *Cluster) Stop() error { return stopAll(c.all()) }
