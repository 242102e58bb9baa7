package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// maxNodes bounds what a Board knows of nodes: four times the most that one Redlock
// has. Further ones are not shown.
const maxNodes = 4 * 64

// A node's calls are counted in slots of nodeSlot; as many as cover NodesFor are told.
const (
	nodeSlot  = 5 * time.Second
	nodeSlots = int64(NodesFor / nodeSlot)
)

// nodes is the health of all nodes seen.
type nodes struct {
	byName atomic.Pointer[map[nodeName]*node] // replaced, never changed

	mu  sync.Mutex
	all []*node // in the order they were first seen
}

// nodeName tells nodes of one name apart that are of different sets.
type nodeName struct{ backend, node string }

// node is the health of one.
type node struct {
	index int
	name  nodeName

	mu       sync.Mutex
	slots    [nodeSlots]nodeCounts
	state    string    // of the NodeState constants; empty: it was not asked
	answered time.Time // zero: never
	lastErr  error
	failedAt time.Time
	restart  *restart // nil: none was noticed
}

type nodeCounts struct {
	slot            int64
	calls, failures int
	took            histogram
}

// done counts a command and returns the node's index, -1 if it has none.
func (n *nodes) done(now time.Time, e lock.NodeEnd) int {
	node := n.named(nodeName{e.Backend.Name, e.Node})
	if node == nil {
		return -1
	}
	node.done(now, e)
	return node.index
}

func (n *nodes) named(name nodeName) *node {
	if known := n.byName.Load(); known != nil {
		if node := (*known)[name]; node != nil {
			return node
		}
	}
	return n.add(name)
}

func (n *nodes) add(name nodeName) *node {
	n.mu.Lock()
	defer n.mu.Unlock()
	more := make(map[nodeName]*node)
	if known := n.byName.Load(); known != nil {
		if node := (*known)[name]; node != nil || len(n.all) >= maxNodes {
			return node
		}
		maps.Copy(more, *known)
	}
	name = nodeName{strings.Clone(name.backend), strings.Clone(name.node)}
	added := &node{index: len(n.all), name: name}
	more[name] = added
	n.all = append(n.all, added)
	n.byName.Store(&more)
	return added
}

// reply is what became of a command.
type reply int

const (
	unsent   reply = iota // it says nothing of the node
	given                 // cut short by the caller, as when the vote is decided
	answered              // also with a refusal
	erred                 // answered with an error
	barred                // it can be reached, and may not vote
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
		c.took.add(e.Took)
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

// stateOf is what a reply says of the node. One that answers and may not vote is not up:
// every lock is acquired without it.
func stateOf(r reply, err error) string {
	switch {
	case r == silent:
		return NodeDown
	case r != barred:
		return NodeUp
	case driver.ClassOf(err) == driver.Quarantined:
		return NodeQuarantined
	default:
		return NodeBarred
	}
}

func slotOf(now time.Time) int64 { return now.Unix() / int64(nodeSlot/time.Second) }

// counts are those of the slot under way. mu must be held.
func (n *node) counts(now time.Time) *nodeCounts {
	slot := slotOf(now)
	c := &n.slots[slot%nodeSlots]
	if c.slot != slot {
		*c = nodeCounts{slot: slot}
	}
	return c
}

// health is of the last minute, but for the last answer, which may be older.
func (n *node) health(now time.Time) Node {
	h, lastErr := n.sum(now)
	if lastErr != nil {
		h.Error = errorText(lastErr, maxDetail)
	}
	return h
}

func (n *node) sum(now time.Time) (h Node, lastErr error) {
	var took histogram
	n.mu.Lock()
	defer n.mu.Unlock()
	h = Node{Name: clip(n.name.node, maxName), Backend: clip(n.name.backend, maxName), State: cmp.Or(n.state, NodeDown), Restart: n.restart.tell(now)}
	if h.State == NodeUp && h.Restart != nil && h.Restart.Enforced {
		h.State = NodeQuarantined // it answers what is no vote
	}
	h.Up = h.State == NodeUp
	for i := range n.slots {
		if c := &n.slots[i]; c.slot > slotOf(now)-nodeSlots && c.slot <= slotOf(now) {
			h.Calls += c.calls
			h.Failures += c.failures
			took.merge(&c.took)
		}
	}
	h.P50, h.P99 = took.quantile(.5).Seconds(), took.quantile(.99).Seconds()
	if !n.answered.IsZero() {
		h.Quiet = seconds(max(now.Sub(n.answered), 0))
	}
	if now.Sub(n.failedAt) < NodesFor {
		lastErr = n.lastErr
	}
	return h, lastErr
}

func (n *nodes) health(now time.Time) []Node {
	n.mu.Lock()
	all := n.all[:len(n.all):len(n.all)]
	n.mu.Unlock()
	health := make([]Node, 0, len(all))
	for _, node := range all {
		health = append(health, node.health(now))
	}
	return health
}

// nodeSet is a set of nodes by index.
type nodeSet [maxNodes / 64]uint64

// note takes down whether a node knows the lock, as far as its answer tells.
func (s *nodeSet) note(node int, said lock.Verdict) {
	if node < 0 {
		return
	}
	bit := uint64(1) << (node % 64)
	switch said {
	case lock.VerdictGranted, lock.VerdictRefilled:
		s[node/64] |= bit
	case lock.VerdictRefused:
		s[node/64] &^= bit
	}
}

func (s *nodeSet) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}
