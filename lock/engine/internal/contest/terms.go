package contest

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// terms are those of the coming attempt.
func (c *contest) terms(ctx context.Context) attempt.Terms {
	c.drainWake()
	if c.queues() && !(c.group.any && c.named) {
		c.counted++
	}
	key := c.group.queueKey(c.member)
	t := attempt.Terms{
		Start: locktrace.AttemptStart{
			Resource: c.group.resourceOf(c.member), Attempt: c.attempts, GateFirst: c.gateFirst(key),
		},
		Traces: c.req.Traces, Queue: &c.queueOf(c.member).Calls, Opts: c.req.Opts,
		Earlier: c.earlier, Reserve: c.reserve(), Gate: c.gate.choose(key, c.engine.Nodes),
		Semaphore: c.group.semaphore(c.member, !c.sweeping), Contender: c.line,
		// A caller that was named must not yield: the gate may have it in the queue again, from its attempt before, and would
		// name another for the member that this attempt wins on the other nodes.
		Yields: c.group.any && !c.sweeping && !c.named,
	}
	t.Waiter = c.waiter(ctx, t.Gate)
	return t
}

// drainWake takes a hint that came before the coming attempt.
func (c *contest) drainWake() {
	if c.sweeping {
		return // hints are for the call that contends
	}
	select {
	case w := <-c.line.Wake:
		c.named = c.named || w.Named
		c.followHint(w)
	default:
	}
}

// queues reports that the coming attempt is one at the member in whose queue the call waits.
func (c *contest) queues() bool {
	return !c.sweeping && (c.group.common() || c.member == c.group.home)
}

// waiter is this process in the gate's queue, which it joins if the gate can name it.
func (c *contest) waiter(ctx context.Context, gate int) driver.Waiter {
	if !c.queues() {
		return driver.Waiter{ID: c.engine.ID}
	}
	w := driver.Waiter{ID: c.engine.ID, Ticket: c.gate.ticket, Enqueue: c.listens(ctx, c.engine.Nodes[gate])}
	if w.Enqueue {
		w.Record = c.entry()
	}
	return w
}

// gateFirst decides whether the coming attempt asks the gate before the others. After a poll
// interval without news it asks all nodes: the gate may be the one node that is wrong. A Fair
// caller could overtake others that way, so it does that only every other time, and not when it was
// named: it may have been named for the call before it. A writer that waits has to keep readers out on
// all nodes.
func (c *contest) gateFirst(key string) bool {
	if c.engine.Quorum == 1 && len(c.engine.Nodes) == 1 || attempt.Bar(c.engine.Set, &c.req.Opts) > 0 {
		return false
	}
	switch {
	case c.req.Opts.Fair:
		return c.pace.polls%2 == 0
	case c.named:
		return false
	case c.group.any && !c.sweeping && !c.gate.first():
		return true // only the first in the queue may ask the others without a name
	case c.tries == 1:
		return c.waited || c.engine.Contended.Has(key)
	}
	return c.pace.polls == 0
}

// listens makes sure that a release on this node can name this process before it queues
// there. A first attempt never waits for a subscription, unless it follows a sweep: without one it does not queue.
func (c *contest) listens(ctx context.Context, n *nodes.Node) bool {
	if n.Listening.Load() {
		return c.pace.polls%2 == 0
	}
	if c.tries == 1 && !c.group.any || n.Mute.Load() {
		return false
	}
	e := locktrace.NodeStart{Resource: c.group.resourceOf(c.member), Op: lock.OpSubscribe, Attempt: c.attempts}
	return n.Listen(ctx, c.req.Traces, e, c.engine.Config.NodeTimeout(c.req.Opts.TTL), c.engine.wakeUp(n))
}

// A grant reserves fencesPerWaiter for each caller that waits behind it, and at most maxRun.
// That is more than are handed over in 10 ms, and fewer than the microseconds in 10 ms, by which
// counters rise anyway.
const (
	fencesPerWaiter = 256
	maxRun          = 8192
)

// reserve is how many fences the next attempt asks for: one for its own lease, and more if
// callers of this process wait for a hand-over.
func (c *contest) reserve() uint64 {
	if c.group.any || c.req.Opts.NoWait || !attempt.HandsOver(&c.req.Opts) {
		return 1
	}
	return uint64(min(max(fencesPerWaiter*c.line.Waiting(), 1), maxRun))
}
