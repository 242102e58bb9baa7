package engine

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// gateQueue is a caller's position in the queue of its resource's gate.
type gateQueue struct {
	ticket int64  // the position, kept from one attempt to the next
	next   bool   // nobody was in front when the gate was last asked
	ahead  int    // how many were in front then
	queued uint64 // set of nodes whose queue the caller may have joined
	failed uint64 // set of nodes that just did not answer as gate
	barred uint64 // set of nodes on which the caller may keep readers out
	untold bool   // an attempt that failed may have queued the caller again, with a place that it was not told
}

// first reports that nobody was in front of the caller when the gate was last asked.
func (g *gateQueue) first() bool { return g.ticket > 0 && g.next }

// choose returns the gate: the first node that answers, in an order derived from the resource,
// so that all processes queue at the same node.
func (g *gateQueue) choose(key string, all []*nodes.Node) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	n := len(all)
	first := int(h.Sum32()) % n
	for i := range n {
		at := (first + i) % n
		if g.failed&(1<<at) == 0 && !all[at].Suspect() {
			return at
		}
	}
	g.failed = 0
	return first
}

// note remembers what became of an attempt at the gate.
func (g *gateQueue) note(gate int, enqueued bool, res ballot.Result) {
	if enqueued {
		g.queued |= 1 << gate
	}
	if enqueued && res.Err != nil && !res.GateRefused && g.ticket == 0 {
		g.untold = true
	}
	if res.Ticket > 0 {
		g.untold = false
		g.ticket, g.next, g.ahead = res.Ticket, res.Ahead == 0, res.Ahead
	}
	if res.GateFault {
		g.failed |= 1 << gate
	} else {
		g.failed = 0 // back to where everybody queues, as soon as that node answers
	}
}

// leave gives up the caller's positions in queues, and its bars. Where the gate granted, the grant has
// removed the caller from the queue already.
func (g *gateQueue) leave(ctx context.Context, c *caller, won *attempt.Attempt) {
	gone := g.queued | g.barred
	if won != nil && won.Dequeued() && !g.untold {
		gone &^= 1 << won.Gate &^ g.barred
	}
	var late uint64 // nodes that have not answered the attempt that won: they may still set up a bar
	if won != nil {
		late = won.Barred() &^ gone
	}
	for i := range c.engine.Nodes {
		if (gone|late)&(1<<i) == 0 {
			continue
		}
		calls := &c.Queue.On[i]
		l := &leaving{
			n: c.engine.Nodes[i], calls: calls, ctx: nodes.Values(ctx), ts: c.Traces,
			timeout: c.engine.Config.NodeTimeout(c.Opts.TTL),
			event:   locktrace.NodeStart{Resource: c.Resource, Op: lock.OpLeave},
			req: driver.LeaveRequest{Key: c.key, WaiterID: c.engine.ID, Handoff: nodes.HandoffWindow,
				Mode: driver.Mode(c.Opts.Mode)},
		}
		if late&(1<<i) != 0 {
			l.unless = &won.Grants[i]
		}
		l.queue()
	}
}

// leaving takes this process out of a node's queue, in the order of the node's calls.
type leaving struct {
	n       *nodes.Node
	calls   *callqueue.Queue
	ctx     context.Context // for its values
	ts      hooks.Traces
	timeout time.Duration
	event   locktrace.NodeStart
	req     driver.LeaveRequest
	unless  *attempt.Grant // nothing is sent if the node has granted by then; may be nil
	after   *lineTurn      // passed on once all nodes have answered; may be nil
	command nodes.Command
}

// queue sends the call after the node's earlier calls.
func (l *leaving) queue() {
	l.n.Set.Releases.Begin()
	l.calls.Do(l)
}

// Start implements callqueue.Call.
func (l *leaving) Start(callqueue.Waiter) {
	if l.unless != nil && l.unless.Has() {
		l.done()
		return
	}
	l.command = l.n.Begin(l.ctx, l.ts, l.event)
	l.n.Leave(driver.Call{Context: l.command.Ctx, Deadline: time.Now().Add(l.timeout)}, &l.req, l)
}

// Answer implements driver.Answer.
func (l *leaving) Answer(_ bool, err error) {
	l.n.End(l.command, l.ts, l.event, lock.VerdictGranted, err)
	l.done()
}

// done lets the node's next call begin.
func (l *leaving) done() {
	l.calls.Next()
	l.n.Set.Releases.End()
	if l.after != nil {
		l.after.done()
	}
}
