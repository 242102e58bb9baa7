package nodes

import (
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
)

// health is that of the last minute, except for the last answer, which may be older.
func (n *node) health(now time.Time) state.Node {
	h, lastErr := n.sum(now)
	if lastErr != nil {
		h.Error = strings.TrimPrefix(text.Detail(lastErr), notAsked) // the page says of the command, not of the node
	}
	return h
}

// notAsked begins the text of an error of a command that was not sent.
var notAsked = driver.ErrNotSent.Error() + ": "

func (n *node) sum(now time.Time) (h state.Node, lastErr error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := n.known.View(now)
	h = state.Node{
		Name: text.Name(n.name.node), Backend: text.Name(n.name.backend), State: string(v.State),
		Calls: v.Calls, Failures: v.Failures, Restart: n.restart.tell(now),
	}
	if v.State.Votes() && !h.Votes() { // it answers what is no vote
		h.State, v.Since = state.NodeQuarantined, n.restart.at
	}
	h.Up = h.Votes()
	n.total(&h, now)
	h.Since, h.Quiet, h.Asked = since(v.Since, now), since(v.Answered, now), since(v.Asked, now)
	if n.skew != 0 {
		h.ClockSkew = state.Seconds(n.skew)
	}
	if ago := now.Sub(n.failedAt); ago < decorate.NodesFor {
		lastErr, h.ErrorAge = n.lastErr, state.Seconds(max(ago, 0))
	}
	return h, lastErr
}

// since is nil for the zero time.
func since(at, now time.Time) *float64 {
	if at.IsZero() {
		return nil
	}
	return state.Seconds(max(now.Sub(at), 0))
}

// failing is the share of failed commands above which a node that answers is not well.
const failing = .01

// total adds up what was counted in the last minute. mu must be held.
func (n *node) total(h *state.Node, now time.Time) {
	var took waits.Histogram
	for i := range n.slots {
		if c := &n.slots[i]; c.slot > slotOf(now)-nodeSlots && c.slot <= slotOf(now) {
			h.NotAsked += c.notAsked
			took.Merge(&c.took)
		}
	}
	h.Failing = float64(h.Failures) > failing*float64(h.Calls)
	h.P50, h.P99 = took.Quantile(.5).Seconds(), took.Quantile(.99).Seconds()
}
