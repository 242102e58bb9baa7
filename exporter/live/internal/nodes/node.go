package nodes

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// nodeName tells apart nodes of one name in different sets.
type nodeName struct{ backend, node string }

// node is the health of one node.
type node struct {
	index int
	name  nodeName

	mu       sync.Mutex
	known    decorate.NodeHealth
	minute   waits.Minute[nodeCounts]
	skew     time.Duration // of its clock; zero: unknown
	lastErr  error
	failedAt time.Time
	restart  *restart // nil: none detected
}

// nodeCounts are what the health that all views share does not count.
type nodeCounts struct {
	notAsked int // commands that were not sent because of the node's state
	took     waits.Histogram
}

func (n *node) done(now time.Time, e locktrace.NodeEnd) {
	r := decorate.NodeReplyOf(e.Err)
	if r == decorate.ReplyUnsent {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known.Done(now, e)
	n.skew = cmp.Or(e.ClockSkew, n.skew)
	sent := !errors.Is(e.Err, driver.ErrNotSent)
	if !sent {
		n.minute.At(now.Unix()).notAsked++
	}
	if r == decorate.ReplyUnheard {
		return
	}
	if sent && r != decorate.ReplyBarred && !e.Undialed() { // else nothing took that long
		n.minute.At(now.Unix()).took.Add(e.Took)
	}
	n.voted(e)
	if r != decorate.ReplyDone {
		n.lastErr, n.failedAt = e.Err, now
	}
}

func (n *node) restarted(now time.Time, e locktrace.NodeRestart) {
	e.Node, e.Backend = "", locktrace.Backend{} // the names are kept once
	n.mu.Lock()
	defer n.mu.Unlock()
	n.restart = &restart{now, e}
}

// voted forgets the quarantine of a node that voted: somebody has vouched for it. mu must be held.
func (n *node) voted(e locktrace.NodeEnd) {
	if n.restart != nil && n.restart.Enforced && e.Op == lock.OpAcquire && e.Verdict == lock.VerdictGranted {
		n.restart = nil
	}
}

// restart is the last detected restart of a node, or its last eviction of keys.
type restart struct {
	at time.Time // when it was detected
	locktrace.NodeRestart
}

// tell returns nil once no earlier lock can be valid.
func (r *restart) tell(now time.Time) *state.Restart {
	if r == nil {
		return nil
	}
	ago := max(now.Sub(r.at), 0)
	if ago >= r.Left {
		return nil
	}
	return &state.Restart{
		Noticed: ago.Seconds(), Evicted: r.Evicted, Witnessed: r.Witnessed, Left: (r.Left - ago).Seconds(),
		Enforced: r.Enforced,
	}
}

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
	var took waits.Histogram
	for c := range n.minute.Last(now.Unix()) {
		h.NotAsked += c.notAsked
		took.Merge(&c.took)
	}
	h.Failing = float64(h.Failures) > failing*float64(h.Calls)
	h.P50, h.P99 = took.Quantile(.5).Seconds(), took.Quantile(.99).Seconds()
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
