package locktest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Guards are those of one client: the very code by which package redlock keeps real
// servers from voting, on nodes that lead to fake ones. It goes by what INFO says on
// each new connection, which is all it has.
type Guards struct {
	// Clock is the client's.
	Clock lock.Clock
	// Quarantine is how long a node that restarted may not vote.
	Quarantine time.Duration
	// Enforce keeps it from voting; otherwise its restart is only told of.
	Enforce bool
	// For controls, which plant a defect that must be found: Misread changes what is
	// read of INFO, Waive takes a server that says so of itself for one that was
	// vouched for, and Deaf keeps the guard from noticing that a node answers.
	Misread func(info string) string
	Waive   func(info string) bool
	Deaf    bool

	servers *guard.Servers
}

// NewGuards makes a client's guards.
func NewGuards(clock lock.Clock, quarantine time.Duration, enforce bool) *Guards {
	return &Guards{Clock: clock, Quarantine: quarantine, Enforce: enforce, servers: guard.NewServers()}
}

// ConnectGuarded is [FakeServer.Connect] with a guard on connections that last from
// one request to the next.
func (s *FakeServer) ConnectGuarded(seed uint64, f Faults, g *Guards) *FakeNode {
	n := s.Connect(seed, f)
	n.guard = guard.New(guard.Config{
		Node: s.name, Servers: g.servers, Clock: g.Clock, Quarantine: g.Quarantine, Enforce: g.Enforce,
	})
	n.guards = g
	return n
}

// Meet makes a connection and has its server examined, as a first command would. It
// fails as that would.
func (n *FakeNode) Meet(ctx context.Context) error {
	return n.send(ctx, "meet", func(*commands) {}, func(*commands) {})
}

// guardedAcquire is the Acquire of package redlock.
func (n *FakeNode) guardedAcquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if err := n.guard.Admit(ctx, n.pooled(ctx)); err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	reply, err := n.acquire(ctx, req)
	reply.Restart = n.guard.Restart()
	if err != nil {
		return reply, err
	}
	n.answered()
	if reply.Granted {
		err = n.guard.Verdict()
	}
	return reply, err
}

func (n *FakeNode) answered() {
	if n.guard != nil && !n.guards.Deaf {
		n.guard.Answered()
	}
}

// connection returns the run of the server that a connection leads to. One whose
// server is gone is noticed before it is used, as go-redis does.
func (n *FakeNode) connection(ctx context.Context) (run int, err error) {
	run, up := n.server.dial()
	if n.guard != nil && n.takeIdle(run) {
		return run, nil
	}
	if !up {
		return 0, &net.OpError{Op: "dial", Net: "fake", Err: syscall.ECONNREFUSED}
	}
	if n.guard != nil {
		err = n.guard.Examine(ctx, &askedServer{node: n, ask: func(do func(*commands)) error {
			return n.exchange(ctx, run, "info", do, func(*commands) {})
		}})
	}
	return run, err
}

func (n *FakeNode) takeIdle(run int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = slices.DeleteFunc(n.idle, func(of int) bool { return of != run })
	if len(n.idle) == 0 {
		return false
	}
	n.idle = n.idle[1:]
	return true
}

func (n *FakeNode) giveBack(run int) {
	if n.guard == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = append(n.idle, run)
}

// askedServer is a server as the guard asks it, on one connection or on any.
type askedServer struct {
	node *FakeNode
	ask  func(do func(*commands)) error
	info string // the last reply
}

// pooled asks on any of the node's connections.
func (n *FakeNode) pooled(ctx context.Context) *askedServer {
	return &askedServer{node: n, ask: func(do func(*commands)) error {
		return n.send(ctx, "info", do, func(*commands) {})
	}}
}

func (c *askedServer) Info(context.Context) (string, error) {
	if err := c.ask(func(s *commands) { c.info = s.info() }); err != nil {
		return "", err
	}
	if misread := c.node.guards.Misread; misread != nil {
		c.info = misread(c.info)
	}
	return c.info, nil
}

func (c *askedServer) Life(context.Context) (life string, err error) {
	err = c.ask(func(s *commands) { life = s.life })
	if waive := c.node.guards.Waive; waive != nil && waive(c.info) {
		runID, _ := guard.MasterID(c.info)
		life = guard.Vouched(runID, "")
	}
	return life, err
}
