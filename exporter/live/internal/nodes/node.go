package nodes

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/histogram"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
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
	answered time.Time // zero: never
	lastErr  error
	failedAt time.Time
	restart  *restart // nil: none detected
}

type nodeCounts struct {
	slot            int64
	calls, failures int
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
	c := n.counts(now)
	c.calls++
	if r == given {
		return
	}
	if r != barred && !e.Undialed() { // else nothing was sent
		c.took.Add(e.Took)
	}
	n.state = stateOf(r, e.Err)
	if r != silent {
		n.answered = now
	}
	n.voted(e)
	if r != answered {
		c.failures++
		n.lastErr, n.failedAt = e.Err, now
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

// health is that of the last minute, except for the last answer, which may be older.
func (n *node) health(now time.Time) state.Node {
	h, lastErr := n.sum(now)
	if lastErr != nil {
		h.Error = text.Detail(lastErr)
	}
	return h
}

func (n *node) sum(now time.Time) (h state.Node, lastErr error) {
	var took histogram.Histogram
	n.mu.Lock()
	defer n.mu.Unlock()
	h = state.Node{
		Name: text.Name(n.name.node), Backend: text.Name(n.name.backend),
		State: cmp.Or(n.state, state.NodeDown), Restart: n.restart.tell(now),
	}
	if h.State == state.NodeUp && h.Restart != nil && h.Restart.Enforced {
		h.State = state.NodeQuarantined // it answers what is no vote
	}
	h.Up = h.State == state.NodeUp
	for i := range n.slots {
		if c := &n.slots[i]; c.slot > slotOf(now)-nodeSlots && c.slot <= slotOf(now) {
			h.Calls += c.calls
			h.Failures += c.failures
			took.Merge(&c.took)
		}
	}
	h.P50, h.P99 = took.Quantile(.5).Seconds(), took.Quantile(.99).Seconds()
	if !n.answered.IsZero() {
		h.Quiet = state.Seconds(max(now.Sub(n.answered), 0))
	}
	if now.Sub(n.failedAt) < state.NodesFor {
		lastErr = n.lastErr
	}
	return h, lastErr
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
