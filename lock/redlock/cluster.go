package redlock

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// clusterNode is a Redis Cluster as one node: the cluster client finds the server of
// each key, and calls block.
type clusterNode struct {
	name     string
	client   *redis.ClusterClient
	dials    *dials
	scripts  *scripts
	keys     *keyCache
	guard    *guard.Guard
	looks    clusterLooks
	listener listener
}

var _ driver.BlockingNode = (*clusterNode)(nil)

func newClusterNode(c *redis.ClusterClient, d *dials, name string, g *guard.Guard, shared *shared, timeout time.Duration) *clusterNode {
	n := &clusterNode{name: name, client: c, dials: d, scripts: shared.scripts, keys: shared.keys, guard: g}
	n.looks.init(timeout)
	n.listener.init(c, timeout)
	return n
}

func (n *clusterNode) Name() string { return n.name }

func (n *clusterNode) System() string { return "redis" }

// run calls a script that args name by its hash.
func (n *clusterNode) run(ctx context.Context, s *script, args []any) (any, error) {
	val, err := s.Run(ctx, n.client, redisconn.Eval(), args)
	if err != nil {
		return nil, classify(err)
	}
	return val, nil
}

func (n *clusterNode) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	whole := clusterServer{server{process: n.client, scripts: n.scripts, sight: n.guard.Latest}, n.client}
	if err := n.guard.Admit(ctx, whole); err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	n.looks.begin(n.guard, whole)
	val, err := n.run(ctx, n.scripts.acquire, append(acquireArgs(n.scripts, n.keys.of(req.Key), &req, inCluster), n.guard.Latest().Expected()))
	if err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, err
	}
	return voted(n.guard, n.guard.Latest(), n.keys, req.Key, val)
}

func (n *clusterNode) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	val, err := n.run(ctx, n.scripts.raise, raiseArgs(n.scripts, n.keys.of(req.Key), &req))
	if err != nil {
		return false, err
	}
	code, err := parseCode(val, 0, 1)
	return code == 1, err
}

func (n *clusterNode) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	val, err := n.run(ctx, n.scripts.extend, append(extendArgs(n.scripts, n.keys.of(req.Key), &req, inCluster), n.guard.Latest().Fingerprint(), n.guard.Latest().Expected()))
	if err != nil {
		return driver.ExtendGone, err
	}
	return extended(n.guard, val)
}

func (n *clusterNode) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	val, err := n.run(ctx, n.scripts.release, releaseArgs(n.scripts, n.keys.of(req.Key), &req, inCluster))
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	return parseRelease(val)
}

func (n *clusterNode) Leave(ctx context.Context, req driver.LeaveRequest) error {
	val, err := n.run(ctx, n.scripts.leave, leaveArgs(n.scripts, n.keys.of(req.Key), &req, inCluster))
	if err == nil {
		_, err = parseCode(val, 0, 1)
	}
	return err
}

func (n *clusterNode) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.subscribe(ctx, waiterID, wake)
}

func (n *clusterNode) Close() error {
	n.listener.close()
	n.looks.close()
	if err := n.client.Close(); err != nil {
		return fmt.Errorf("lock: close of %s: %w", n.name, err)
	}
	return n.dials.close()
}
