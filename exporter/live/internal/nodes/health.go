package nodes

import (
	"cmp"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/histogram"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
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
	h = state.Node{
		Name: text.Name(n.name.node), Backend: text.Name(n.name.backend),
		State: cmp.Or(n.state, state.NodeDown), Restart: n.restart.tell(now),
	}
	changed := n.changed
	if h.State == state.NodeUp && !h.Votes() { // it answers what is no vote
		h.State, changed = state.NodeQuarantined, n.restart.at
	}
	h.Up = h.State == state.NodeUp
	n.total(&h, now)
	if !changed.IsZero() {
		h.Since = state.Seconds(max(now.Sub(changed), 0))
	}
	if !n.answered.IsZero() {
		h.Quiet = state.Seconds(max(now.Sub(n.answered), 0))
	}
	if ago := now.Sub(n.failedAt); ago < state.NodesFor {
		lastErr, h.ErrorAge = n.lastErr, state.Seconds(max(ago, 0))
	}
	return h, lastErr
}

// failing is the share of failed commands above which a node that answers is not well.
const failing = .01

// total adds up the commands of the last minute. mu must be held.
func (n *node) total(h *state.Node, now time.Time) {
	var took histogram.Histogram
	for i := range n.slots {
		if c := &n.slots[i]; c.slot > slotOf(now)-nodeSlots && c.slot <= slotOf(now) {
			h.Calls += c.calls
			h.Failures += c.failures
			h.NotAsked += c.notAsked
			took.Merge(&c.took)
		}
	}
	h.Failing = float64(h.Failures) > failing*float64(h.Calls)
	h.P50, h.P99 = took.Quantile(.5).Seconds(), took.Quantile(.99).Seconds()
}
