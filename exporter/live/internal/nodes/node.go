package nodes

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// A node's calls are counted in slots of nodeSlot. The slots cover decorate.NodesFor.
const (
	nodeSlot  = 5 * time.Second
	nodeSlots = int64(decorate.NodesFor / nodeSlot)
)

// nodeName tells apart nodes of one name in different sets.
type nodeName struct{ backend, node string }

// node is the health of one node.
type node struct {
	index int
	name  nodeName

	mu       sync.Mutex
	known    decorate.NodeHealth
	slots    [nodeSlots]nodeCounts
	skew     time.Duration // of its clock; zero: unknown
	lastErr  error
	failedAt time.Time
	restart  *restart // nil: none detected
}

// nodeCounts are what the health that all views share does not count.
type nodeCounts struct {
	slot     int64
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
		n.counts(now).notAsked++
	}
	if r == decorate.ReplyUnheard {
		return
	}
	if sent && r != decorate.ReplyBarred && !e.Undialed() { // else nothing took that long
		n.counts(now).took.Add(e.Took)
	}
	n.voted(e)
	if r != decorate.ReplyDone {
		n.lastErr, n.failedAt = e.Err, now
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
