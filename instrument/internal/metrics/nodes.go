package metrics

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// maxNodeLabels is how many values the label lock_node may have; no Redlock has more nodes.
const maxNodeLabels = lock.MaxNodes

// maxBackends bounds the number of node sets.
const maxBackends = 100

// nodes bounds the labels lock_node and backend.
type nodes struct {
	*catalogue
	sizes sync.Map // what the gauges nodes and quorum say, by name of the back end: a size

	mu       sync.Mutex
	backends int                               // that label their own series
	byNode   atomic.Pointer[map[nodeKey]*node] // replaced, with mu held, and never changed
}

func newNodes(c *catalogue) *nodes {
	n := &nodes{catalogue: c}
	n.byNode.Store(new(map[nodeKey]*node))
	return n
}

func (n *nodes) node(backend locktrace.Backend, name string) *node {
	key := nodeKey{backend.Name, name}
	if known := (*n.byNode.Load())[key]; known != nil {
		return known
	}
	return n.add(key)
}

// tell sets the gauges of all nodes.
func (n *nodes) tell(now time.Time) {
	for _, node := range *n.byNode.Load() {
		node.tell(now)
	}
}

func (n *nodes) add(key nodeKey) *node {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := *n.byNode.Load()
	if known[key] == nil && len(known) >= maxNodeLabels {
		key = nodeKey{label.Other, label.Other}
	}
	if old := known[key]; old != nil {
		return old
	}
	added := newNode(n.catalogue, nodeKey{label.Cut(key.backend), label.Cut(key.node)})
	more := maps.Clone(known)
	if more == nil {
		more = make(map[nodeKey]*node)
	}
	more[nodeKey{strings.Clone(key.backend), strings.Clone(key.node)}] = added
	n.byNode.Store(&more)
	return added
}

// size is the number of nodes, and how many must agree.
type size struct{ nodes, quorum int }

// resize does nothing if nothing changes.
func (n *nodes) resize(backend locktrace.Backend, now size) {
	if known, ok := n.sizes.Load(backend.Name); ok && known == now {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	of := label.Cut(backend.Name)
	if _, ok := n.sizes.Load(backend.Name); !ok {
		if n.backends++; n.backends > maxBackends {
			return
		}
	}
	n.sizes.Store(strings.Clone(backend.Name), now)
	n.nodes.WithLabelValues(of).Set(float64(now.nodes))
	n.quorum.WithLabelValues(of).Set(float64(now.quorum))
}
