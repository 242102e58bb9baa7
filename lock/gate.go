package lock

import (
	"context"
	"hash/fnv"

	"github.com/lockscope/lockscope/lock/driver"
)

// gateFirst decides whether the coming attempt asks the gate before the others.
// After an interval without news everybody is asked, for the gate may be the one
// node that is wrong; where that could overtake somebody, only every other time.
func (c *contest) gateFirst() bool {
	if c.r.quorum == 1 && len(c.r.members) == 1 {
		return false
	}
	switch {
	case c.named:
		return false
	case c.opts.Fair:
		return c.polls%2 == 0
	case c.attempts == 1:
		return c.waited || c.r.places.isContended(c.key)
	}
	return c.polls == 0
}

// gate is the first node that answers, in an order that the resource decides, so
// that all processes queue at the same one.
func (c *contest) gate() int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.key))
	n := len(c.r.members)
	first := int(h.Sum32()) % n
	for i := range n {
		at := (first + i) % n
		if c.badGates&(1<<at) == 0 && !c.r.members[at].suspect() {
			return at
		}
	}
	c.badGates = 0
	return first
}

// listens makes sure that a release on this node can name us before we queue
// there. The first attempt does without rather than wait for a subscription.
func (c *contest) listens(ctx context.Context, node int) bool {
	m := c.r.members[node]
	if m.listening.Load() {
		return c.polls%2 == 0
	}
	if c.attempts == 1 {
		return false
	}
	ctx, cancel := c.r.within(ctx)
	defer cancel()
	err := m.call(ctx, c.ts, NodeStart{Resource: c.name, Op: OpSubscribe, Attempt: c.attempts},
		func(ctx context.Context) (Verdict, error) { return Granted, m.Subscribe(ctx, c.r.id, c.r.wakeUp(m)) })
	if err != nil {
		return false
	}
	m.listening.Store(true)
	return true
}

// leaveQueues gives up the places this contest has, except where it won: there
// the grant has taken it out of the queue.
func (c *contest) leaveQueues(ctx context.Context, won *attempt) {
	for i := range c.r.members {
		if c.queued&(1<<i) == 0 {
			continue
		}
		if won != nil && i == won.gate && won.waiter.Enqueue {
			if state, _ := won.seats[i].standing(); state == granted {
				continue
			}
		}
		m := c.r.members[i]
		req := driver.LeaveRequest{Key: c.key, WaiterID: c.r.id, Handoff: c.r.cfg.handoffWindow()}
		c.at.lines[i].do(c.r.group, func() {
			ctx, cancel := c.r.within(ctx)
			defer cancel()
			_ = m.call(ctx, c.ts, NodeStart{Resource: c.name, Op: OpLeave},
				func(ctx context.Context) (Verdict, error) { return Granted, m.Leave(ctx, req) })
		})
	}
}
