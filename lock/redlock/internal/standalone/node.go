// Package standalone makes one Redis server a node, with lanes of its own. Sentinel may choose the server.
package standalone

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/internal/wakeup"
)

// Node is a driver.Node on lanes of its own to one server.
type Node struct {
	connector  *lanes.Connector
	lanes      *lanes.Lanes
	scripts    *scripts.Set
	guard      *guard.Guard
	subscriber *redis.Client
	listener   *wakeup.Listener
}

var (
	_ driver.Node      = (*Node)(nil)
	_ driver.Connected = (*Node)(nil)
)

// New returns the node of a client's server, with the guard's name. It does not connect yet.
func New(given *redis.Client, g *guard.Guard, s *scripts.Set, c lanes.Config) *Node {
	k := lanes.NewConnector(given, c)
	subscriber := k.Subscriber()
	return &Node{
		connector: k, lanes: lanes.New(k, g, s), scripts: s, guard: g,
		subscriber: subscriber, listener: wakeup.New(subscriber, c.Timeout),
	}
}

// Name implements driver.Node.
func (n *Node) Name() string { return n.guard.Node }

// System implements driver.Node.
func (n *Node) System() string { return "redis" }

// Capabilities implements driver.Node.
func (n *Node) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true, SlotQueue: true}
}

// Warm implements driver.Node. The first call connects.
func (n *Node) Warm(context.Context) error { return nil }

// Subscribe implements driver.Node.
func (n *Node) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.Subscribe(ctx, waiterID, wake)
}

// Close implements driver.Node.
func (n *Node) Close() error {
	n.listener.Close()
	n.lanes.Close()
	if err := errors.Join(n.subscriber.Close(), n.connector.Close()); err != nil {
		return fmt.Errorf("lock: close %s: %w", n.Name(), err)
	}
	return nil
}

// Connections implements driver.Connected.
func (n *Node) Connections() driver.Connections { return n.lanes.Connections() }

// acquireCommand is an acquire on its way.
type acquireCommand struct {
	lanes.Command
	n   *Node
	key string
	of  *driver.Semaphore
	to  driver.Answer[driver.AcquireReply]
}

// Acquire implements driver.Node.
func (n *Node) Acquire(call driver.Call, req *driver.AcquireRequest, to driver.Answer[driver.AcquireReply]) {
	args := req.Args.Get(func() []any { return n.scripts.AcquireArgs(req, scripts.OnServer()) })
	c := &acquireCommand{n: n, key: req.Key, of: req.Semaphore, to: to}
	script := n.scripts.AcquireScript(req, scripts.OnServer())
	c.Command = lanes.Command{Call: call, Script: script, Args: args, Compares: lanes.ComparesMarker, To: c}
	n.lanes.Submit(&c.Command)
}

func (c *acquireCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.AcquireReply{Restart: c.n.guard.Restart()}, err)
		return
	}
	reply, err := c.n.scripts.Voted(c.n.guard, c.Sight(), c.key, val)
	if c.of != nil && reply.Slots == 0 {
		reply.Slots = c.of.Slots // the script has compared it
	}
	c.to.Answer(reply, err)
}

// flagCommand is a command whose script replies 1 or 0.
type flagCommand struct {
	lanes.Command
	to driver.Answer[bool]
}

func (c *flagCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(false, err)
		return
	}
	c.to.Answer(scripts.ParseFlag(val))
}

// Raise implements driver.Node.
func (n *Node) Raise(call driver.Call, req *driver.RaiseRequest, to driver.Answer[bool]) {
	c := &flagCommand{to: to}
	c.Command = lanes.Command{Call: call, Script: n.scripts.RaiseIn(req.Mode), Args: n.scripts.RaiseArgs(req), To: c}
	n.lanes.Submit(&c.Command)
}

// Leave implements driver.Node.
func (n *Node) Leave(call driver.Call, req *driver.LeaveRequest, to driver.Answer[bool]) {
	args := n.scripts.LeaveArgs(req, scripts.OnServer())
	c := &flagCommand{to: to}
	c.Command = lanes.Command{Call: call, Script: n.scripts.LeaveScript(req, scripts.OnServer()), Args: args, To: c}
	n.lanes.Submit(&c.Command)
}

type extendCommand struct {
	lanes.Command
	n  *Node
	to driver.Answer[driver.ExtendReply]
}

// Extend implements driver.Node.
func (n *Node) Extend(call driver.Call, req *driver.ExtendRequest, to driver.Answer[driver.ExtendReply]) {
	args := req.Args.Get(func() []any { return n.scripts.ExtendArgs(req, scripts.OnServer()) })
	c := &extendCommand{n: n, to: to}
	c.Command = lanes.Command{
		Call: call, Script: n.scripts.ExtendScript(req, scripts.OnServer()), Args: args,
		Compares: lanes.ComparesFingerprint, To: c,
	}
	n.lanes.Submit(&c.Command)
}

func (c *extendCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.ExtendGone, err)
		return
	}
	c.to.Answer(scripts.Extended(c.n.guard, val))
}

type releaseCommand struct {
	lanes.Command
	to driver.Answer[driver.ReleaseReply]
}

// Release implements driver.Node.
func (n *Node) Release(call driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	args := req.Args.Get(func() []any { return n.scripts.ReleaseArgs(req, scripts.OnServer()) })
	c := &releaseCommand{to: to}
	c.Command = lanes.Command{Call: call, Script: n.scripts.ReleaseIn(req.Mode), Args: args, To: c}
	n.lanes.Submit(&c.Command)
}

func (c *releaseCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.ReleaseReply{}, err)
		return
	}
	c.to.Answer(scripts.ParseRelease(val))
}

type peekCommand struct {
	lanes.Command
	n  *Node
	to driver.Answer[driver.PeekReply]
}

// Peek implements driver.Node.
func (n *Node) Peek(call driver.Call, req *driver.PeekRequest, to driver.Answer[driver.PeekReply]) {
	args := n.scripts.PeekArgs(req, scripts.OnServer())
	c := &peekCommand{n: n, to: to}
	c.Command = lanes.Command{Call: call, Script: n.scripts.Peek, Args: args, Compares: lanes.ComparesMarkerToRead, To: c}
	n.lanes.Submit(&c.Command)
}

func (c *peekCommand) Reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.PeekReply{}, err)
		return
	}
	c.to.Answer(scripts.Peeked(c.n.guard, val))
}
