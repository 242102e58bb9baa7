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

// Cluster is a Redis Cluster of masters that share the slots evenly and have no replicas.
type Cluster struct {
	servers []*Server
}

// StartCluster starts the masters, joins them, and returns when each of them finds the cluster complete. That takes a little
// over two seconds, for a master waits that long before it trusts what it sees. Bounds and errors are those of [Start].
func StartCluster(ctx context.Context, masters int) (*Cluster, error) {
	if masters < 1 {
		return nil, fmt.Errorf("redisproc: a cluster of %d masters", masters)
	}
	servers, err := StartN(ctx, masters, WithArgs("--cluster-enabled", "yes", "--cluster-node-timeout", "2000"))
	if err != nil {
		return nil, err
	}
	c := &Cluster{servers: servers}
	if err := c.form(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redisproc: form cluster: %w", err), c.Stop())
	}
	return c, nil
}

// form does by hand what redis-cli --cluster create does, which is not installed everywhere and asks questions.
func (c *Cluster) form(ctx context.Context) error {
	nodes := make([]*redis.Client, len(c.servers))
	for i, s := range c.servers {
		nodes[i] = adminClient(s)
		defer nodes[i].Close()
	}
	for i, node := range nodes {
		if err := assign(ctx, node, i, len(nodes)); err != nil {
			return err
		}
	}
	for _, s := range c.servers[1:] {
		if err := nodes[0].ClusterMeet(ctx, loopback, strconv.Itoa(s.port)).Err(); err != nil {
			return err
		}
	}
	for _, node := range nodes {
		err := poll(ctx, nil, func(ctx context.Context) error { return checkComplete(ctx, node, len(nodes)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// assign gives node i of n its share of the slots and an epoch of its own, so that no two nodes argue about either.
func assign(ctx context.Context, node *redis.Client, i, n int) error {
	first, next := i*slotCount/n, (i+1)*slotCount/n
	// go-redis sends this as ADDSLOTS with every slot: ADDSLOTSRANGE is missing before Redis 7.
	if err := node.ClusterAddSlotsRange(ctx, first, next-1).Err(); err != nil {
		return err
	}
	return node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err()
}

func checkComplete(ctx context.Context, node *redis.Client, n int) error {
	info, err := node.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	fields := strings.Fields(info)
	if !slices.Contains(fields, "cluster_state:ok") || !slices.Contains(fields, "cluster_size:"+strconv.Itoa(n)) {
		return fmt.Errorf("node %v sees an incomplete cluster: %q", node, fields)
	}
	return nil
}

// adminClient fails at once and says why; the caller polls.
func adminClient(s *Server) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.Addr(), PoolSize: 1, MaxRetries: -1, DisableIdentity: true})
}

// Servers returns the masters, to pause, kill and restart. The caller may change the slice.
func (c *Cluster) Servers() []*Server { return slices.Clone(c.servers) }

// Addrs returns the masters' addresses, as redis.ClusterOptions wants them.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.Addr()
	}
	return addrs
}

// Stop stops every master like [Server.Stop].
func (c *Cluster) Stop() error { return stopAll(c.servers) }
