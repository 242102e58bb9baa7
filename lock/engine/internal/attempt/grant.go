package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// GrantState says whether a node has a token, as far as the node has answered.
type GrantState int

// What is known of the token on a node.
const (
	grantUnasked GrantState = iota // nothing was sent
	GrantHeld                      // the node holds the token
	GrantRefused                   // the node does not hold it, and will not
	GrantUnknown                   // sent, outcome not known: it may hold it, or come to
)

// Grant is one node's part in an attempt, and in the lease that the attempt becomes. It
// remembers the node's last answer about the token, and apart from that whether a call may still arrive: a node that has
// answered a release has the token again if an acquire without an answer comes after it.
type Grant struct {
	*nodes.Node
	round voteRound
	Index int
	Calls *callqueue.Queue

	deadline time.Time     // of the acquire
	command  nodes.Command // the acquire
	probe    bool

	mu      sync.Mutex
	state   GrantState
	counter uint64 // fence counter of the grant
	run     uint64 // fences reserved from there on
	late    bool   // a call was not answered, and may still arrive
	givenUp bool   // the token was given up: nothing may be set any more
}

// voteRound is the attempt that a grant is part of: it asks for the node's vote, and counts it.
type voteRound interface {
	acquireTrace() (context.Context, hooks.Traces, locktrace.NodeStart)
	request(index int) *driver.AcquireRequest
	voted(index int, reply driver.AcquireReply, err error)
}

// acquiring is a grant whose acquire is queued, or not answered yet.
type acquiring Grant

func (c *acquiring) Start(wait callqueue.Waiter) {
	g := (*Grant)(c)
	g.command = g.Begin(g.round.acquireTrace())
	err := g.unsendable()
	if err == nil {
		g.probe, err = g.Enter()
	}
	if err != nil {
		g.acquired(driver.AcquireReply{}, err)
		g.Calls.Next()
		return
	}
	call := driver.Call{Context: g.command.Ctx, Deadline: g.deadline, Wait: wait.Context}
	g.Acquire(call, g.round.request(g.Index), c)
}

// Answer implements driver.Answer.
func (c *acquiring) Answer(reply driver.AcquireReply, err error) {
	g := (*Grant)(c)
	g.ClockSkew.Store(int64(reply.ClockSkew))
	if reply.Restart != nil {
		g.Restart.Store(reply.Restart)
	}
	g.Exit(g.probe)
	g.acquired(reply, err)
	g.Calls.Next()
}

// ask hands the acquire over, in the order of the node's calls. If the node does not answer
// those, the acquire fails at once: other nodes would stay locked until its time is up.
func (g *Grant) ask(deadline time.Time, wait callqueue.Waiter) {
	g.deadline = deadline
	if g.Suspect() && g.Calls.IsBusy() {
		g.command = g.Begin(g.round.acquireTrace())
		g.acquired(driver.AcquireReply{}, g.ErrSuspect())
		return
	}
	g.Calls.DoWaiting((*acquiring)(g), wait)
}

// unsendable is why an acquire is not sent when its turn comes; nil if it is. If other nodes have
// decided the attempt meanwhile, a node that answers has not failed.
func (g *Grant) unsendable() error {
	switch {
	case g.Set.Closing():
		return fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
	case !g.Open() && g.Silent.Load() == 0 && time.Now().Before(g.deadline):
		return fmt.Errorf("%w: %w: the attempt is over", driver.ErrNotSent, context.Canceled)
	case !g.Open() || !time.Now().Before(g.deadline):
		return fmt.Errorf("%w: earlier calls to the node are still under way", driver.ErrNotSent)
	}
	return nil
}

// acquired takes the node's answer, or why it was not asked.
func (g *Grant) acquired(reply driver.AcquireReply, err error) {
	_, ts, event := g.round.acquireTrace()
	g.End(g.command, ts, event, nodes.VerdictOf(reply.Granted), err)
	switch {
	case errors.Is(err, driver.ErrNotSent):
	case errors.Is(err, driver.ErrTombstone), errors.Is(err, driver.ErrFenceCounter):
		g.SetState(GrantRefused)
	case err != nil:
		g.SetState(GrantUnknown)
	case reply.Granted:
		g.granted(reply.Counter, max(reply.Run, 1))
	default:
		g.SetState(GrantRefused)
	}
	g.round.voted(g.Index, reply, err)
}

// known is the state of the token after the node's last answer.
func (g *Grant) known() GrantState {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// Has reports that the node has the token, by its last answer.
func (g *Grant) Has() bool { return g.known() == GrantHeld }

// fences are the first and the last fence that the node's grant reserves; both are 0 if there
// are none.
func (g *Grant) fences() (first, last uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != GrantHeld || g.counter == 0 {
		return 0, 0
	}
	return g.counter, g.counter + g.run - 1
}

// SetState notes what an answer has shown.
func (g *Grant) SetState(state GrantState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = state
	g.late = g.late || state == GrantUnknown
}

func (g *Grant) granted(counter, run uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state, g.counter, g.run = GrantHeld, counter, run
}

// mayArrive reports that a call which can set the token was not answered: it can still take
// effect, whatever the node has said since.
func (g *Grant) mayArrive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.late
}

// GiveUp keeps calls that have not begun from setting anything.
func (g *Grant) GiveUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.givenUp = true
}

// Open reports that the token may still be set on the node.
func (g *Grant) Open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.givenUp
}
