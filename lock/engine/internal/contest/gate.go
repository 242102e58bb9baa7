package contest

import (
	"hash/fnv"

	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// gateQueue is a caller's position in the queue of its resource's gate.
type gateQueue struct {
	ticket        int64  // the position, kept from one attempt to the next
	next          bool   // nobody was in front when the gate was last asked
	ahead         int    // how many were in front then
	queued        uint64 // set of nodes whose queue the caller may have joined
	failed        uint64 // set of nodes that just did not answer as gate
	barred        uint64 // set of nodes on which the caller may keep readers out
	unknownTicket bool   // an attempt that failed may have queued the caller again, with a ticket that it does not know

	entries int // in the queue that the call may have had
}

// first reports that nobody was in front of the caller when the gate was last asked.
func (g *gateQueue) first() bool { return g.ticket > 0 && g.next }

// choose returns the gate: the first node that answers, in an order derived from the resource,
// so that all processes queue at the same node. With two gates, a release names one waiter at each: both ask all nodes at
// once, each is granted some, and neither has a quorum.
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

// note remembers what became of an attempt at the gate; queues says that the call waits in the queue there.
func (g *gateQueue) note(try *attempt.Attempt, res ballot.Result, queues bool) {
	if enqueued := try.Waiter.Enqueue; enqueued {
		g.queued |= 1 << try.Gate
		switch {
		case res.Err == nil:
		case res.GateRefused:
			g.entries++
		default:
			g.entries += 2 // its grant is being given back, or the gate has not answered
			g.unknownTicket = g.unknownTicket || g.ticket == 0
		}
	}
	if queues && res.Ticket > 0 {
		g.unknownTicket = false
		g.ticket, g.next, g.ahead = res.Ticket, res.Ahead == 0, res.Ahead
	}
	if res.GateFault {
		g.failed |= 1 << try.Gate
	} else {
		g.failed = 0 // back to where everybody queues, as soon as that node answers
	}
}
