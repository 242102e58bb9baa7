package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Guards makes the guards of one client's nodes. They run the code of package redlock on fake servers:
// they use the reply to INFO on each new connection, and the marker that the scripts read.
type Guards struct {
	// Clock is the client's monotonic clock, Wall its wall clock.
	Clock engine.Clock
	Wall  func() time.Time
	// Quarantine is how long a node that may have forgotten may not vote.
	Quarantine time.Duration
	// Enforce keeps such a node from voting; otherwise its restart is only reported.
	Enforce bool
	// Fingerprint is of the client's configuration.
	Fingerprint guard.Fingerprint
	// For controls, which plant a defect that the simulation must find: Misread changes the
	// reply to INFO, OneSight gives every connection the sight of the first one, and Asking
	// changes the arguments of quarantine.lua.
	Misread  func(info string) string
	OneSight bool
	Asking   func(s *memstate.Instant, a *memstate.Asked)

	servers *guard.Servers
}

// NewGuards returns a client's guards.
func NewGuards(clock engine.Clock, quarantine time.Duration, enforce bool, f guard.Fingerprint) *Guards {
	return &Guards{Clock: clock, Wall: time.Now, Quarantine: quarantine, Enforce: enforce, Fingerprint: f,
		servers: guard.NewServers()}
}

// ConnectGuarded is like [FakeServer.Connect], with a guard, and connections that last from one request to
// the next.
func (s *FakeServer) ConnectGuarded(seed uint64, f Faults, g *Guards) *FakeNode {
	n := s.Connect(seed, f)
	n.guard = guard.New(guard.Config{
		Node: s.name, Servers: g.servers, Clock: g.Clock, Quarantine: g.Quarantine, Enforce: g.Enforce,
		Fingerprint: g.Fingerprint,
	})
	n.guards = g
	return n
}

// Meet makes a connection and examines its server, as a first command would. It fails in the same way.
func (n *FakeNode) Meet(ctx context.Context) error {
	return n.send(ctx, "meet", func(*commands) {}, func(*commands) {})
}

// Ask lets the node's guard ask its server about its quarantine, as a refused acquire would.
func (n *FakeNode) Ask(ctx context.Context) error { return n.guard.Unproven(ctx, n.pooled(ctx)) }

// AskQuarantine runs quarantine.lua once, with the given arguments instead of the guard's: to compare a model of nodes
// that forget with a node, one step at a time.
func (n *FakeNode) AskQuarantine(ctx context.Context, a guard.Ask) (guard.Answer, error) {
	return n.pooled(ctx).Ask(ctx, a)
}

// errUnproven is the reply of a server that does not vote for this connection.
var errUnproven = fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrQuarantined)

// guardedAcquire is the Acquire of package redlock.
func (n *FakeNode) guardedAcquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if err := n.guard.Admit(ctx, n.pooled(ctx)); err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	reply, err := n.acquire(ctx, req)
	if errors.Is(err, errUnproven) {
		if err = n.guard.Unproven(ctx, n.pooled(ctx)); err == nil {
			reply, err = n.acquire(ctx, req) // the first had no effect
		} else {
			err = fmt.Errorf("%w: %w", driver.ErrNotSent, err)
		}
	}
	reply.Restart = n.guard.Restart()
	if err == nil && reply.Granted {
		err = n.guard.Verdict(n.guard.Latest())
	}
	return reply, err
}

// guardedPeek is the Peek of package redlock.
func (n *FakeNode) guardedPeek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if err := n.guard.AdmitReader(ctx, n.pooled(ctx)); err != nil {
		return driver.PeekReply{}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	reply, marker, err := n.peek(ctx, req)
	if errors.Is(err, errUnproven) {
		err = n.guard.Unread(marker)
	}
	return reply, err
}

// connection is one to a run of the server, and what it saw of it when it was made.
type connection struct {
	run   int
	sight guard.Sight
}

// connection returns one that is not in use, or a new one. One whose server is gone is
// noticed before it is used, as go-redis does.
func (n *FakeNode) connection(ctx context.Context) (conn connection, err error) {
	run, up := n.server.dial()
	if n.guard == nil {
		conn.sight = uncheckedSight()
	} else if idle, ok := n.takeIdle(run); ok {
		return idle, nil
	}
	if !up {
		return conn, &net.OpError{Op: "dial", Net: "fake", Err: syscall.ECONNREFUSED}
	}
	conn.run = run
	if n.guard != nil {
		first := n.guard.Latest()
		conn.sight, err = n.guard.Examine(ctx, &askedServer{node: n, ask: func(do, unheard func(*commands)) error {
			return n.exchange(ctx, conn, "info", do, unheard)
		}})
		if n.guards.OneSight && first.RunID() != "" {
			conn.sight = n.first(first)
		}
	}
	return conn, err
}

// uncheckedSight is what a guard that is off sees.
func uncheckedSight() guard.Sight {
	sight, _ := guard.New(guard.Config{Off: true}).Examine(context.Background(), nil)
	return sight
}

// first is what the node's first connection saw.
func (n *FakeNode) first(seen guard.Sight) guard.Sight {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.firstSight == nil {
		n.firstSight = &seen
	}
	return *n.firstSight
}

func (n *FakeNode) takeIdle(run int) (conn connection, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = slices.DeleteFunc(n.idle, func(c connection) bool { return c.run != run })
	if len(n.idle) == 0 {
		return conn, false
	}
	conn = n.idle[0]
	n.idle = n.idle[1:]
	return conn, true
}

func (n *FakeNode) giveBack(conn connection) {
	if n.guard == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = append(n.idle, conn)
}

// askedServer is a server as the guard asks it, on one connection or on any.
type askedServer struct {
	node *FakeNode
	ask  func(do, unheard func(*commands)) error
}

// pooled asks on any of the node's connections.
func (n *FakeNode) pooled(ctx context.Context) *askedServer {
	return &askedServer{node: n, ask: func(do, unheard func(*commands)) error {
		return n.send(ctx, "info", do, unheard)
	}}
}

func (c *askedServer) Info(context.Context) (info string, err error) {
	if err := c.ask(func(s *commands) { info = s.info() }, ignored); err != nil {
		return "", err
	}
	if misread := c.node.guards.Misread; misread != nil {
		info = misread(info)
	}
	return info, nil
}

func (c *askedServer) Marker(context.Context) (marker string, err error) {
	err = c.ask(func(s *commands) { marker = s.Marker }, ignored)
	return marker, err
}

// ignored is what a server does for a question that nobody waits for any more.
func ignored(*commands) {}

// Ask runs quarantine.lua with the arguments that package redlock would send.
func (c *askedServer) Ask(_ context.Context, a guard.Ask) (answer guard.Answer, err error) {
	sent := c.node.guards.Wall()
	readOnly := false
	err = c.ask(func(s *commands) {
		if readOnly = s.readOnly; !readOnly {
			answer = c.node.askQuarantine(s, a, sent)
		}
	}, func(s *commands) {
		if !s.readOnly {
			c.node.askQuarantine(s, a, sent)
		}
	})
	if err == nil && readOnly {
		err = errReadOnly
	}
	return answer, err
}

func (n *FakeNode) askQuarantine(s *commands, a guard.Ask, sent time.Time) (answer guard.Answer) {
	args := s.sight.QuarantineArgs(a, sent)
	asked := memstate.Asked{
		Fingerprint: args[0].(string), RunID: args[1].(string), DB: strconv.Itoa(args[2].(int)),
		CallerMS: args[3].(int64), LengthMS: args[4].(int64), Nonce: args[5].(string), Known: args[6].(string),
	}
	instant := s.Instant
	if n.guards.Asking != nil {
		n.guards.Asking(&instant, &asked)
	}
	var left int64
	answer.Code, answer.Marker, left = instant.AskQuarantine(asked)
	answer.Left = time.Duration(left) * time.Millisecond
	n.server.tell("quarantine", "%+v: %+v", asked, answer)
	return answer
}
