package decorate

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// NodeState is what the commands of a process show of a node.
type NodeState string

// The states of a node. It votes in the first two.
const (
	NodeUp          NodeState = "up"
	NodeShaky       NodeState = "shaky"       // it answers, and a tenth of its commands or more failed in the last minute
	NodeQuarantined NodeState = "quarantined" // it answers, but may have lost locks and may not vote yet
	NodeBarred      NodeState = "barred"      // it answers, but may not vote, or answers every command with an error
	NodeDown        NodeState = "down"        // it does not answer
	NodeUnknown     NodeState = "unknown"     // it was not asked in the last two minutes
)

// Votes reports whether a node in this state votes.
func (s NodeState) Votes() bool { return s == NodeUp || s == NodeShaky }

const (
	// NodesFor is the time span in which a NodeHealth counts commands.
	NodesFor = time.Minute
	// NodeUnknownAfter is how long after its last command nothing is known of a node.
	NodeUnknownAfter = 2 * time.Minute

	nodeSlot  = 5 * time.Second
	nodeSlots = int64(NodesFor / nodeSlot)

	// A node is shaky from the first share of failed commands on, until it is below the second.
	shakyFrom, shakyUntil = .1, .05
	// A node is out once so many commands in a row failed, and none succeeded for so long. One that was shaky before
	// fails several in a row by chance. Of a node that is asked rarely, one failure long after the last success is all
	// there is.
	outAfter, shakyOutAfter = 5, 10
	outFor                  = 2 * time.Second
	outAtOnceAfter          = 30 * time.Second
)

// NodeHealth judges a node by its commands. All views of lockscope use this rule. Its zero value is a node that was not
// asked. Calls must not be concurrent.
type NodeHealth struct {
	slots      [nodeSlots]nodeSlotCounts
	state      NodeState // without NodeShaky and NodeUnknown; "" if it was not asked
	changed    time.Time // of state
	until      time.Time // end of the quarantine; zero: unknown
	asked      time.Time // end of the last command that shows the state
	answered   time.Time // zero: never
	succeeded  time.Time // zero: never
	failed     int       // commands in a row that failed
	failsSince time.Time // the first of them
	shaky      bool
}

type nodeSlotCounts struct {
	slot            int64
	calls, failures int
}

// NodeView is the health of a node at one instant.
type NodeView struct {
	State           NodeState
	Since           time.Time // of State; zero: unknown
	Asked, Answered time.Time // last; zero: never
	Calls, Failures int       // in the last minute, of the commands that were sent
}

// NodeReply is the result of a command, as far as it shows the state of the node.
type NodeReply int

// The results of a command.
const (
	ReplyUnsent  NodeReply = iota // shows nothing
	ReplyUnheard                  // cut short by the caller, as when the vote is decided
	ReplyDone                     // also a refusal
	ReplyError                    // answered with an error
	ReplyBarred                   // reachable, but may not vote
	ReplyNone                     // no answer
)

// NodeReplyOf classifies the error of a command.
func NodeReplyOf(err error) NodeReply {
	switch class := driver.ClassOf(err); {
	case err == nil:
		return ReplyDone
	case class.Barred():
		return ReplyBarred
	case class.Silent():
		return ReplyNone
	case class == driver.Busy:
		return ReplyUnsent
	case errors.Is(err, driver.ErrUnheard), errors.Is(err, context.Canceled):
		return ReplyUnheard
	default:
		return ReplyError
	}
}

// Done counts the end of a command.
func (h *NodeHealth) Done(now time.Time, e locktrace.NodeEnd) {
	r := NodeReplyOf(e.Err)
	if r == ReplyUnsent {
		return
	}
	back := r == ReplyDone && !h.onlyAnswers(e.Op)
	if back && h.state != "" && !h.state.Votes() {
		h.slots = [nodeSlots]nodeSlotCounts{} // failures of an outage do not make the node shaky after it
	}
	if !errors.Is(e.Err, driver.ErrNotSent) {
		h.count(now, r > ReplyDone)
	}
	if r == ReplyUnheard {
		return
	}
	h.asked = now
	if r != ReplyNone {
		h.answered = now
	}
	switch r {
	case ReplyDone:
		if back {
			h.succeeded, h.failed = now, 0
			h.become(NodeUp, now)
		}
	case ReplyBarred:
		h.bar(now, e.Err)
	default:
		h.fail(now, r)
	}
}

// onlyAnswers reports whether a node that failed or may not vote was asked for no vote: it may release all the same.
func (h *NodeHealth) onlyAnswers(op lock.Operation) bool {
	noVote := op == lock.OpRelease || op == lock.OpLeave || op == lock.OpSubscribe
	return noVote && h.state != NodeDown && (h.failed > 0 || h.state != "" && !h.state.Votes())
}

// bar follows at once: it is the node's word, not chance.
func (h *NodeHealth) bar(now time.Time, err error) {
	h.failed, h.until = 0, time.Time{}
	if driver.ClassOf(err) != driver.Quarantined {
		h.become(NodeBarred, now)
		return
	}
	if q, ok := errors.AsType[*driver.QuarantineError](err); ok {
		h.until = now.Add(q.Left)
	}
	h.become(NodeQuarantined, now)
}

func (h *NodeHealth) fail(now time.Time, r NodeReply) {
	if h.failed++; h.failed == 1 {
		h.failsSince = now
	}
	out := NodeDown
	if r == ReplyError {
		out = NodeBarred
	}
	if h.state == NodeDown || h.state == NodeBarred || h.out(now) {
		h.become(out, h.failsSince)
	}
}

// out reports whether the failed commands in a row are more than chance.
func (h *NodeHealth) out(now time.Time) bool {
	if h.state != NodeQuarantined && now.Sub(h.succeeded) >= outAtOnceAfter {
		return true
	}
	if h.failed < outAfter || now.Sub(h.succeeded) < outFor {
		return false
	}
	calls, failures := h.total(now)
	wasShaky := float64(failures-h.failed) >= shakyFrom*float64(max(calls-h.failed, 1))
	return h.failed >= shakyOutAfter || !wasShaky
}

func (h *NodeHealth) become(state NodeState, at time.Time) {
	if h.state != state {
		h.state, h.changed = state, at
	}
}

// View is what is known of the node now.
func (h *NodeHealth) View(now time.Time) NodeView {
	v := NodeView{State: h.state, Since: h.changed, Asked: h.asked, Answered: h.answered}
	v.Calls, v.Failures = h.total(now)
	if v.State == NodeQuarantined && !h.until.IsZero() && !now.Before(h.until) {
		v.State, v.Since = NodeUp, h.until
	}
	switch share := float64(v.Failures) / float64(max(v.Calls, 1)); {
	case v.Failures > 1 && share >= shakyFrom:
		h.shaky = true
	case share < shakyUntil:
		h.shaky = false
	}
	switch {
	case now.Sub(h.asked) > NodeUnknownAfter:
		v.State, v.Since = NodeUnknown, time.Time{}
	case v.State == NodeUp && h.shaky:
		v.State, v.Since = NodeShaky, time.Time{}
	}
	return v
}

func nodeSlotOf(now time.Time) int64 { return now.Unix() / int64(nodeSlot/time.Second) }

func (h *NodeHealth) count(now time.Time, failure bool) {
	slot := nodeSlotOf(now)
	c := &h.slots[slot%nodeSlots]
	if c.slot != slot {
		*c = nodeSlotCounts{slot: slot}
	}
	if c.calls++; failure {
		c.failures++
	}
}

func (h *NodeHealth) total(now time.Time) (calls, failures int) {
	latest := nodeSlotOf(now)
	for i := range h.slots {
		if c := &h.slots[i]; c.slot > latest-nodeSlots && c.slot <= latest {
			calls, failures = calls+c.calls, failures+c.failures
		}
	}
	return calls, failures
}
