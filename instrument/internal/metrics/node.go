package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// operations are the values of the label operation. The first three exist from a node's first command on.
var operations = [...]lock.Operation{
	lock.OpAcquire, lock.OpExtend, lock.OpRelease, lock.OpRaise, lock.OpLeave, lock.OpSubscribe, label.Other,
}

func operationIndex(op lock.Operation) int {
	for i, known := range operations {
		if op == known {
			return i
		}
	}
	return len(operations) - 1
}

// nodeKey identifies a node. Each back end may have one of the same name.
type nodeKey struct{ backend, node string }

// lateGauge exists from its first value on: until then a zero would be wrong.
type lateGauge struct {
	vec   *prometheus.GaugeVec
	gauge atomic.Pointer[prometheus.Gauge]
}

func (g *lateGauge) set(of nodeKey, v float64) {
	known := g.gauge.Load()
	if known == nil { // two at a time make the same
		child := g.vec.WithLabelValues(of.node, of.backend)
		known = &child
		g.gauge.Store(known)
	}
	(*known).Set(v)
}

// node has the counts of one node.
type node struct {
	*catalogue
	labels nodeKey
	// up and usable, which says whether the node may vote, do not exist before their values are known.
	up, usable lateGauge
	// enforced counts restarts that keep the node from voting for a while, tolerated other restarts, and evicted the
	// detections of evicted keys.
	enforced, tolerated, evicted prometheus.Counter

	ops [len(operations)]atomic.Pointer[nodeOp]
}

type nodeOp struct {
	duration prometheus.Observer
	failures [outcome.Failures]prometheus.Counter
}

func newNode(c *catalogue, of nodeKey) *node {
	n := &node{
		catalogue: c, labels: of,
		up: lateGauge{vec: c.nodeUp}, usable: lateGauge{vec: c.nodeUsable},
		enforced:  c.nodeRestarts.WithLabelValues(of.node, of.backend, "true"),
		tolerated: c.nodeRestarts.WithLabelValues(of.node, of.backend, "false"),
		evicted:   c.nodeEvicted.WithLabelValues(of.node, of.backend),
	}
	for i := range 3 {
		n.op(operations[i])
	}
	return n
}

// op may make the same children twice concurrently: they are equal.
func (n *node) op(name lock.Operation) *nodeOp {
	i := operationIndex(name)
	if op := n.ops[i].Load(); op != nil {
		return op
	}
	of := []string{n.labels.node, n.labels.backend, string(operations[i])}
	op := &nodeOp{duration: n.nodeDuration.WithLabelValues(of...)}
	for j := range op.failures {
		op.failures[j] = n.nodeFailures.WithLabelValues(append(of, outcome.Failure(j).String())...)
	}
	n.ops[i].Store(op)
	return op
}

// done counts a command. A command that was not asked, or given up, does not change whether the node is up.
func (n *node) done(e lock.NodeEnd) {
	op := n.op(e.Op)
	if e.Err == nil {
		op.duration.Observe(e.Took.Seconds())
		n.up.set(n.labels, 1)
		if votes(e.Op) {
			n.usable.set(n.labels, 1)
		}
		return
	}
	why := outcome.OfNode(e.Err)
	op.failures[why].Inc()
	if why.Sent() {
		op.duration.Observe(e.Took.Seconds())
	}
	switch {
	case why == outcome.NodeCanceled || why == outcome.NodeBusy:
	case driver.ClassOf(e.Err).Silent():
		n.up.set(n.labels, 0)
		n.usable.set(n.labels, 0)
	case why == outcome.NodeGuard:
		n.up.set(n.labels, 1)
		n.usable.set(n.labels, 0)
	default:
		n.up.set(n.labels, 1)
	}
}

// votes reports whether a node that may not vote refuses the operation.
func votes(op lock.Operation) bool { return op == lock.OpAcquire || op == lock.OpExtend }

func (n *node) restarted(e lock.NodeRestart) {
	switch {
	case e.Evicted:
		n.evicted.Inc()
	case e.Enforced:
		n.enforced.Inc()
	default:
		n.tolerated.Inc()
	}
}
