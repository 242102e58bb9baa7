// Package cluster makes a Redis Cluster one node. The cluster client finds the server of each key, and
// calls block.
package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/dial"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/internal/wakeup"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Node is a driver.BlockingNode over all servers of a cluster.
type Node struct {
	driver.BlockingLockOnly
	client   *redis.ClusterClient
	dials    *dial.Dials
	scripts  *scripts.Set
	guard    *guard.Guard
	probes   *probes
	listener *wakeup.Listener
}

var _ driver.BlockingNode = (*Node)(nil)

// Config is what the derived client gets beside the given one's options.
type Config struct {
	Timeout time.Duration // the longest of any command
	Hooks   []redis.Hook
}

// New returns the node of a client's cluster, with the guard's name. It derives a client of its own, and does
// not connect yet.
func New(given *redis.ClusterClient, g *guard.Guard, s *scripts.Set, c Config) *Node {
	limits := redisconn.Limits{Dial: dial.Timeout(c.Timeout), Call: c.Timeout, Pool: c.Timeout}
	opt := redisconn.Cluster(given, limits, examiner(g, s))
	if opt.Dialer == nil {
		opt.Dialer = redis.NewDialer(&redis.Options{DialTimeout: given.Options().DialTimeout, TLSConfig: opt.TLSConfig})
	}
	d := dial.New(opt.Dialer, given.Options().DialTimeout)
	opt.Dialer = d.Connect
	own := redis.NewClusterClient(opt)
	for _, h := range c.Hooks {
		own.AddHook(h)
	}
	return &Node{
		client: own, dials: d, scripts: s, guard: g,
		probes: newProbes(c.Timeout), listener: wakeup.New(own, c.Timeout),
	}
}

// examiner makes the guard inspect each new connection of a client.
func examiner(g *guard.Guard, s *scripts.Set) redisconn.OnConnect {
	return func(ctx context.Context, cn *redis.Conn) error {
		_, err := g.Examine(ctx, s.Server(cn, g.Latest))
		return err
	}
}

// Name implements driver.Node.
func (n *Node) Name() string { return n.guard.Node }

// System implements driver.Node.
func (n *Node) System() string { return "redis" }

// Capabilities implements driver.BlockingNode.
func (n *Node) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true}
}

// run calls a script that args name by its hash. A server that does not answer may have been replaced: go-redis reads the
// topology again when a server redirects it, and else once a minute. One reload is under way at a time, and go-redis
// waits 200 ms after each.
func (n *Node) run(ctx context.Context, s *redisconn.Script, args []any) (any, error) {
	val, err := s.Run(ctx, n.client, redisconn.Eval(), args)
	if err = scripts.Classify(err); driver.ClassOf(err).Silent() {
		n.client.ReloadState(ctx)
	}
	return val, err
}

// Acquire implements driver.BlockingNode.
func (n *Node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	whole := server{n.scripts.Server(n.client, n.guard.Latest), n.client}
	if err := n.guard.Admit(ctx, whole); err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	n.probes.begin(n.guard, whole)
	args := append(n.scripts.AcquireArgs(&req, scripts.InCluster()), n.guard.Latest().Expected())
	val, err := n.run(ctx, n.scripts.AcquireIn(req.Mode), args)
	if err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, err
	}
	return n.scripts.Voted(n.guard, n.guard.Latest(), req.Key, val)
}

// Raise implements driver.BlockingNode.
func (n *Node) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	val, err := n.run(ctx, n.scripts.RaiseIn(req.Mode), n.scripts.RaiseArgs(&req))
	if err != nil {
		return false, err
	}
	return scripts.ParseFlag(val)
}

// Extend implements driver.BlockingNode.
func (n *Node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	seen := n.guard.Latest()
	args := append(n.scripts.ExtendArgs(&req, scripts.InCluster()), seen.Fingerprint(), seen.Expected())
	val, err := n.run(ctx, n.scripts.ExtendIn(req.Mode), args)
	if err != nil {
		return driver.ExtendGone, err
	}
	return scripts.Extended(n.guard, val)
}

// Release implements driver.BlockingNode.
func (n *Node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	val, err := n.run(ctx, n.scripts.ReleaseIn(req.Mode), n.scripts.ReleaseArgs(&req, scripts.InCluster()))
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	return scripts.ParseRelease(val)
}

// Leave implements driver.BlockingNode.
func (n *Node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	val, err := n.run(ctx, n.scripts.LeaveIn(req.Mode), n.scripts.LeaveArgs(&req, scripts.InCluster()))
	if err == nil {
		_, err = scripts.ParseFlag(val)
	}
	return err
}

// Peek implements driver.BlockingNode.
func (n *Node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	whole := server{n.scripts.Server(n.client, n.guard.Latest), n.client}
	if err := n.guard.AdmitReader(ctx, whole); err != nil {
		return driver.PeekReply{}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	n.probes.begin(n.guard, whole)
	args := append(n.scripts.PeekArgs(&req, scripts.InCluster()), n.guard.Latest().Expected())
	val, err := n.run(ctx, n.scripts.Peek, args)
	if err != nil {
		return driver.PeekReply{}, err
	}
	return scripts.Peeked(n.guard, val)
}

// Subscribe implements driver.BlockingNode.
func (n *Node) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.Subscribe(ctx, waiterID, wake)
}

// Close implements driver.BlockingNode.
func (n *Node) Close() error {
	n.listener.Close()
	n.probes.close()
	if err := n.client.Close(); err != nil {
		return fmt.Errorf("lock: close %s: %w", n.Name(), err)
	}
	return n.dials.Close()
}
