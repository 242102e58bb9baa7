package contest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// leave gives up the call's entries in the queues of the nodes, and its bars; won is the attempt that succeeded, or nil.
// The turn of a call for any member is over then. That of a call for a lock is the lease's.
func (c *contest) leave(ctx context.Context, won *attempt.Attempt) {
	if c.group.any {
		c.leaveLine(ctx, won)
		return
	}
	c.leaveLock(ctx, won)
	if won == nil {
		c.line.PassTurn()
	}
}

// leaveLock leaves the queue of a lock. Where the gate granted, the grant has removed the call from it already.
func (c *contest) leaveLock(ctx context.Context, won *attempt.Attempt) {
	g := &c.gate
	gone := g.queued | g.barred
	if won != nil && won.Dequeued() && !g.unknownTicket {
		gone &^= 1 << won.Gate &^ g.barred
	}
	var late uint64 // nodes that have not answered the attempt that won: they may still set up a bar
	if won != nil {
		late = won.Barred() &^ gone
	}
	for i, n := range c.engine.Nodes {
		if (gone|late)&(1<<i) == 0 {
			continue
		}
		l := c.leaving(ctx, n, 0)
		l.calls = &c.line.On[i]
		if late&(1<<i) != 0 {
			l.unless = &won.Grants[i]
		}
		l.queue()
	}
}

// lineTurn is the turn of a call that has left the line of its process. The next call has the same name in the queues
// of the nodes. So its turn comes when the nodes that answer have taken this one out: else that would take out the next.
type lineTurn struct {
	left atomic.Int32 // nodes
	line *queue.Queue
}

func (t *lineTurn) done() {
	if t.left.Add(-1) == 0 {
		t.line.PassTurn()
		t.line.Leave()
	}
}

// leaveLine takes the call out of the queue of its semaphore, and passes on the slots that are kept for it. The leave
// goes behind all calls of this one that the node has not answered, whichever slot they are about.
//
// A call that has a slot leaves as well. The grant has taken it out of the queue, but it may have been named for another
// slot meanwhile, or be back in the queue because it gave back votes for one: that slot would be kept for a caller that
// never comes (counterexample 58 of lock/proof/spec).
func (c *contest) leaveLine(ctx context.Context, won *attempt.Attempt) {
	c.left = true
	turn := &lineTurn{line: c.line}
	turn.left.Store(1) // the end of this function
	defer turn.done()
	gone := c.gate.queued
	if won != nil {
		c.line.Forget()
		if c.tookEntry(won) {
			gone &^= 1 << won.Gate
		}
	}
	member := c.member
	if !c.group.common() {
		member = c.group.home
	}
	for i, n := range c.engine.Nodes {
		if gone&(1<<i) == 0 {
			continue
		}
		c.queueOf(member) // a name may have come since the last attempt
		for m, q := range c.members {
			if m != member && !q.On[i].IsBusy() {
				continue
			}
			l := c.leaving(ctx, n, member)
			if l.calls = &q.On[i]; !n.Suspect() {
				l.after = turn
				turn.left.Add(1)
			}
			l.queue()
		}
	}
}

// tookEntry reports that the grant of the gate has used up the only entry in the queue that the call had.
func (c *contest) tookEntry(won *attempt.Attempt) bool {
	if !won.Dequeued() {
		return false
	}
	if !c.group.common() {
		return !c.gate.unknownTicket
	}
	return c.gate.entries == 0 || c.gate.entries == 1 && c.named
}

func (c *contest) leaving(ctx context.Context, n *nodes.Node, member int) *leaving {
	return &leaving{
		n: n, ctx: nodes.Values(ctx, c.req.Traces), ts: c.req.Traces, timeout: c.engine.Config.NodeTimeout(c.req.Opts.TTL),
		event: locktrace.NodeStart{Resource: c.group.resourceOf(member), Op: lock.OpLeave},
		req: driver.LeaveRequest{Key: c.group.keyOf(member), WaiterID: c.engine.ID, Handoff: nodes.HandoffWindow,
			Mode: driver.Mode(c.req.Opts.Mode), Semaphore: c.group.semaphore(member, true)},
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
