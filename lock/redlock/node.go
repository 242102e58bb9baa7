package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// node is a driver.Node on lanes of its own to one server.
type node struct {
	name     string
	lanes    *lanes
	scripts  *scripts
	keys     *keyCache
	guard    *guard.Guard
	listener listener
}

// shared is what the nodes of an engine have in common.
type shared struct {
	scripts *scripts
	keys    *keyCache
}

func newNode(c *connector, name string, g *guard.Guard, shared *shared, timeout time.Duration) *node {
	n := &node{name: name, lanes: newLanes(c, g, shared.scripts), scripts: shared.scripts, keys: shared.keys, guard: g}
	n.listener.init(c.subscriber(), timeout)
	return n
}

func (n *node) Name() string { return n.name }

func (n *node) System() string { return "redis" }

func (n *node) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.subscribe(ctx, waiterID, wake)
}

func (n *node) Close() error {
	n.listener.close()
	n.lanes.close()
	if err := errors.Join(n.listener.client.Close(), n.lanes.connector.dials.close()); err != nil {
		return fmt.Errorf("lock: close of %s: %w", n.name, err)
	}
	return nil
}

// hand gives a command to the lanes.
func (n *node) hand(call driver.Call, c *command, s *script, args []any, to replier) {
	c.ctx, c.deadline, c.wait, c.script, c.args, c.to = call.Context, call.Deadline, call.Wait, s, args, to
	n.lanes.hand(c)
}

// acquireCommand is an acquire on its way.
type acquireCommand struct {
	command
	n   *node
	key string
	to  driver.Answer[driver.AcquireReply]
}

func (n *node) Acquire(call driver.Call, req *driver.AcquireRequest, to driver.Answer[driver.AcquireReply]) {
	c := &acquireCommand{n: n, key: req.Key, to: to}
	c.compared = comparedMarker
	args := req.Shared.Args(func() []any { return acquireArgs(n.scripts, n.keys.of(req.Key), req, onServer) })
	n.hand(call, &c.command, n.scripts.acquire, args, c)
}

func (c *acquireCommand) reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.AcquireReply{Restart: c.n.guard.Restart()}, err)
		return
	}
	c.to.Answer(voted(c.n.guard, c.sight, c.n.keys, c.key, val))
}

// flagCommand is a command whose script replies 1 or 0.
type flagCommand struct {
	command
	to driver.Answer[bool]
}

func (c *flagCommand) reply(val any, err error) {
	if err != nil {
		c.to.Answer(false, err)
		return
	}
	code, err := parseCode(val, 0, 1)
	c.to.Answer(code == 1, err)
}

func (n *node) Raise(call driver.Call, req *driver.RaiseRequest, to driver.Answer[bool]) {
	c := &flagCommand{to: to}
	n.hand(call, &c.command, n.scripts.raise, raiseArgs(n.scripts, n.keys.of(req.Key), req), c)
}

func (n *node) Leave(call driver.Call, req *driver.LeaveRequest, to driver.Answer[bool]) {
	c := &flagCommand{to: to}
	n.hand(call, &c.command, n.scripts.leave, leaveArgs(n.scripts, n.keys.of(req.Key), req, onServer), c)
}

type extendCommand struct {
	command
	n  *node
	to driver.Answer[driver.ExtendReply]
}

func (n *node) Extend(call driver.Call, req *driver.ExtendRequest, to driver.Answer[driver.ExtendReply]) {
	c := &extendCommand{n: n, to: to}
	c.compared = comparedFingerprint
	args := req.Shared.Args(func() []any { return extendArgs(n.scripts, n.keys.of(req.Key), req, onServer) })
	n.hand(call, &c.command, n.scripts.extend, args, c)
}

func (c *extendCommand) reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.ExtendGone, err)
		return
	}
	c.to.Answer(extended(c.n.guard, val))
}

type releaseCommand struct {
	command
	to driver.Answer[driver.ReleaseReply]
}

func (n *node) Release(call driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	c := &releaseCommand{to: to}
	args := req.Shared.Args(func() []any { return releaseArgs(n.scripts, n.keys.of(req.Key), req, onServer) })
	n.hand(call, &c.command, n.scripts.release, args, c)
}

func (c *releaseCommand) reply(val any, err error) {
	if err != nil {
		c.to.Answer(driver.ReleaseReply{}, err)
		return
	}
	c.to.Answer(parseRelease(val))
}
