// Package nodes has the health of the nodes that received commands.
package nodes

import (
	"maps"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Nodes is the health of all nodes seen.
type Nodes struct {
	byName atomic.Pointer[map[nodeName]*node] // replaced, never changed

	mu  sync.Mutex
	all []*node // in the order they were first seen
}

// Done counts a command and returns the node's index, or -1 if it has none.
func (n *Nodes) Done(now time.Time, e locktrace.NodeEnd) int {
	node := n.named(nodeName{e.Backend.Name, e.Node})
	if node == nil {
		return -1
	}
	node.done(now, e)
	return node.index
}

func (n *Nodes) named(name nodeName) *node {
	if known := n.byName.Load(); known != nil {
		if node := (*known)[name]; node != nil {
			return node
		}
	}
	return n.add(name)
}

func (n *Nodes) add(name nodeName) *node {
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

// Restarted records a restart of a node.
func (n *Nodes) Restarted(now time.Time, e locktrace.NodeRestart) {
	if node := n.named(nodeName{e.Backend.Name, e.Node}); node != nil {
		node.restarted(now, e)
	}
}

// Health returns the health of all nodes in the order of first contact.
func (n *Nodes) Health(now time.Time) []state.Node {
	n.mu.Lock()
	all := n.all[:len(n.all):len(n.all)]
	n.mu.Unlock()
	health := make([]state.Node, 0, len(all))
	for _, node := range all {
		health = append(health, node.health(now))
	}
	return health
}

// maxNodes bounds the nodes of a Board: four times the most of one Redlock. Further ones are not shown.
const maxNodes = 4 * 64

// Set is a set of nodes by index.
type Set [maxNodes / 64]uint64

// Note records whether a node's answer shows that it has the lock.
func (s *Set) Note(node int, said lock.Verdict) {
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

// Len is the number of nodes in the set.
func (s *Set) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}
