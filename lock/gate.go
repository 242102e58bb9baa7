package lock

import (
	"context"
	"hash/fnv"

	"github.com/lockscope/lockscope/lock/driver"
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
		return a.waited || a.engine.queues.isContended(a.key)
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
	if a.attempts == 1 {
		return false
	}
	ctx, cancel := a.engine.within(ctx)
	defer cancel()
	err := n.call(ctx, a.ts, NodeStart{Resource: a.resource, Op: OpSubscribe, Attempt: a.attempts},
		func(ctx context.Context) (Verdict, error) {
			return VerdictGranted, n.Subscribe(ctx, a.engine.id, a.engine.wakeUp(n))
		})
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
			if state, _ := won.grants[i].known(); state == grantHeld {
				continue
			}
		}
		n := a.engine.nodes[i]
		req := driver.LeaveRequest{Key: a.key, WaiterID: a.engine.id, Handoff: a.engine.cfg.handoffWindow()}
		a.queue.calls[i].do(a.engine.workers, func() {
			ctx, cancel := a.engine.within(ctx)
			defer cancel()
			_ = n.call(ctx, a.ts, NodeStart{Resource: a.resource, Op: OpLeave},
				func(ctx context.Context) (Verdict, error) { return VerdictGranted, n.Leave(ctx, req) })
		})
	}
}
