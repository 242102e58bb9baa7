package nodes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/histogram"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// A node's calls are counted in slots of nodeSlot. The slots cover state.NodesFor.
const (
	nodeSlot  = 5 * time.Second
	nodeSlots = int64(state.NodesFor / nodeSlot)
)

// nodeName tells apart nodes of one name in different sets.
type nodeName struct{ backend, node string }

// node is the health of one node.
type node struct {
	index int
	name  nodeName

	mu       sync.Mutex
	slots    [nodeSlots]nodeCounts
	state    string    // one of the NodeState constants; empty: not asked yet
	changed  time.Time // of state
	answered time.Time // zero: never
	lastErr  error
	failedAt time.Time
	restart  *restart // nil: none detected
}

type nodeCounts struct {
	slot            int64
	calls, failures int // of the commands that were sent
	notAsked        int // commands that were not sent because of the node's state
	took            histogram.Histogram
}

// reply is the result of a command.
type reply int

const (
	unsent   reply = iota // does not show the node's state
	given                 // cut short by the caller, as when the vote is decided
	answered              // also with a refusal
	erred                 // answered with an error
	barred                // reachable, but may not vote
	silent                // no answer
)

func replyOf(err error) reply {
	switch class := driver.ClassOf(err); {
	case err == nil:
		return answered
	case class.Barred():
		return barred
	case class.Silent():
		return silent
	case class == driver.Busy:
		return unsent
	case errors.Is(err, driver.ErrUnheard), errors.Is(err, context.Canceled):
		return given
	default:
		return erred
	}
}

func (n *node) done(now time.Time, e lock.NodeEnd) {
	r := replyOf(e.Err)
	if r == unsent {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	sent := !errors.Is(e.Err, driver.ErrNotSent)
	n.counts(now).add(sent, r)
	if r == given {
		return
	}
	if sent && r != barred && !e.Undialed() { // else nothing took that long
		n.counts(now).took.Add(e.Took)
	}
	n.become(stateOf(r, e.Err), now)
	if r != silent {
		n.answered = now
	}
	n.voted(e)
	if r != answered {
		n.lastErr, n.failedAt = e.Err, now
	}
}

// add counts a command. One that was not sent says nothing of how many fail.
func (c *nodeCounts) add(sent bool, r reply) {
	if !sent {
		c.notAsked++
		return
	}
	c.calls++
	if r != given && r != answered {
		c.failures++
	}
}

// become is a node's state from now on. mu must be held.
func (n *node) become(state string, now time.Time) {
	if n.state != state {
		n.state, n.changed = state, now
	}
}

// stateOf is the state that a reply shows. A node that answers but may not vote is not up, because every lock is
// acquired without it.
func stateOf(r reply, err error) string {
	switch {
	case r == silent:
		return state.NodeDown
	case r != barred:
		return state.NodeUp
	case driver.ClassOf(err) == driver.Quarantined:
		return state.NodeQuarantined
	default:
		return state.NodeBarred
	}
}

func slotOf(now time.Time) int64 { return now.Unix() / int64(nodeSlot/time.Second) }

// counts returns the counts of the current slot. mu must be held.
func (n *node) counts(now time.Time) *nodeCounts {
	slot := slotOf(now)
	c := &n.slots[slot%nodeSlots]
	if c.slot != slot {
		*c = nodeCounts{slot: slot}
	}
	return c
}

func (n *node) restarted(now time.Time, e lock.NodeRestart) {
	e.Node, e.Backend = "", lock.Backend{} // the names are kept once
	n.mu.Lock()
	defer n.mu.Unlock()
	n.restart = &restart{now, e}
}

// voted forgets the quarantine of a node that voted: somebody has vouched for it. mu must be held.
func (n *node) voted(e lock.NodeEnd) {
	if n.restart != nil && n.restart.Enforced && e.Op == lock.OpAcquire && e.Verdict == lock.VerdictGranted {
		n.restart = nil
	}
}
