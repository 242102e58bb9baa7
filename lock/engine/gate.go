package engine

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
)

// gateFirst decides whether the coming attempt asks the gate before the others.
// After an interval without news everybody is asked, for the gate may be the one
// node that is wrong; where that could overtake somebody, only every other time.
func (a *acquisition) gateFirst() bool {
	if a.engine.quorum == 1 && len(a.engine.nodes) == 1 {
		return false
	}
	switch {
	case a.named:
		return false
	case a.opts.Fair:
		return a.polls%2 == 0
	case a.attempts == 1:
		return a.waited || a.engine.contended.has(a.key)
	}
	return a.polls == 0
}

// gate is the first node that answers, in an order that the resource decides, so
// that all processes queue at the same one.
func (a *acquisition) gate() int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.key))
	n := len(a.engine.nodes)
	first := int(h.Sum32()) % n
	for i := range n {
		at := (first + i) % n
		if a.failedGates&(1<<at) == 0 && !a.engine.nodes[at].suspect() {
			return at
		}
	}
	a.failedGates = 0
	return first
}

// listens makes sure that a release on this node can name us before we queue
// there. The first attempt does without rather than wait for a subscription.
func (a *acquisition) listens(ctx context.Context, index int) bool {
	n := a.engine.nodes[index]
	if n.listening.Load() {
		return a.polls%2 == 0
	}
	if a.attempts == 1 || n.mute.Load() {
		return false
	}
	e := lock.NodeStart{Resource: a.resource, Op: lock.OpSubscribe, Attempt: a.attempts}
	c := n.begin(valuesOf(ctx), a.ts, e)
	limited, cancel := context.WithTimeout(c.ctx, a.engine.cfg.nodeTimeout(a.opts.TTL))
	defer cancel()
	err := n.Subscribe(limited, a.engine.id, a.engine.wakeUp(n))
	if errors.Is(err, driver.ErrNoWakeUps) {
		n.mute.Store(true)
		n.end(c, a.ts, e, lock.VerdictRefused, nil)
		return false
	}
	n.end(c, a.ts, e, lock.VerdictGranted, err)
	if err != nil {
		return false
	}
	n.listening.Store(true)
	return true
}

// leaveQueues gives up the positions this acquisition has, except where it won: there
// the grant has taken it out of the queue.
func (a *acquisition) leaveQueues(ctx context.Context, won *attempt) {
	for i := range a.engine.nodes {
		if a.queued&(1<<i) == 0 {
			continue
		}
		if won != nil && i == won.gate && won.waiter.Enqueue {
			if won.grants[i].known() == grantHeld {
				continue
			}
		}
		calls := &a.queue.calls[i]
		calls.Do(&leaving{
			n: a.engine.nodes[i], calls: calls, ctx: valuesOf(ctx), ts: a.ts,
			timeout: a.engine.cfg.nodeTimeout(a.opts.TTL),
			event:   lock.NodeStart{Resource: a.resource, Op: lock.OpLeave},
			req:     driver.LeaveRequest{Key: a.key, WaiterID: a.engine.id, Handoff: handoffWindow},
		})
	}
}

// leaving takes this process out of a node's queue, in the order of the node's calls.
type leaving struct {
	n       *node
	calls   *callqueue.Queue
	ctx     context.Context // for its values
	ts      hooks.Traces
	timeout time.Duration
	event   lock.NodeStart
	req     driver.LeaveRequest
	command command
}

func (l *leaving) Start(callqueue.Waiter) {
	l.command = l.n.begin(l.ctx, l.ts, l.event)
	l.n.Leave(driver.Call{Context: l.command.ctx, Deadline: time.Now().Add(l.timeout)}, &l.req, l)
}

// Answer implements driver.Answer.
func (l *leaving) Answer(_ bool, err error) {
	l.n.end(l.command, l.ts, l.event, lock.VerdictGranted, err)
	l.calls.Next()
}
