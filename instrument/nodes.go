package instrument

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// maxNodeLabels is how many values the label lock_node may take; no Redlock has more nodes.
const maxNodeLabels = lock.MaxNodes

// failure indexes the values of the label reason of node_failures_total.
type failure int

const (
	failTimeout failure = iota
	failCanceled
	failRefused
	failDial
	failReadonly
	failNoScript
	failBusy
	failGuard
	failOther
	failures
)

var failureNames = [failures]string{"timeout", "canceled", "refused", "dial", "readonly", "noscript", "busy", "guard", "other"}

func (f failure) String() string { return failureNames[f] }

// sent reports that the command took its time on the node, and so has a duration. Rules
// and boards take for the commands of a node those that have one, and the failures that
// were not sent; what was canceled is neither.
func (f failure) sent() bool {
	return f != failCanceled && f != failRefused && f != failDial && f != failBusy && f != failGuard
}

func failureOf(err error) failure {
	undialed := lock.NodeEnd{Err: err}.Undialed()
	switch class := driver.ClassOf(err); {
	case errors.Is(err, driver.ErrUnheard):
		return failCanceled
	case class.Barred():
		return failGuard
	case class == driver.Busy && !errors.Is(err, context.Canceled):
		return failBusy
	case class == driver.Timeout && !undialed:
		return failTimeout
	case errors.Is(err, context.Canceled):
		return failCanceled
	case errors.Is(err, syscall.ECONNREFUSED):
		return failRefused
	case undialed:
		return failDial
	}
	switch statusCode(err) {
	case "READONLY":
		return failReadonly
	case "NOSCRIPT":
		return failNoScript
	default:
		return failOther
	}
}

// statusCode is the first word of an error that Redis replied; "" for other
// errors. Nothing but that word is ever shown: the text may quote arguments.
func statusCode(err error) string {
	var reply interface {
		error
		RedisError()
	}
	if !errors.As(err, &reply) {
		return ""
	}
	code, _, _ := strings.Cut(reply.Error(), " ")
	for i := range len(code) {
		if code[i] < 'A' || code[i] > 'Z' || i >= 32 {
			return "ERR"
		}
	}
	return code
}

// operations are the values of the label operation; the first three exist from a
// node's first command on.
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

// nodeKey tells nodes apart; each back end may have one of the same name.
type nodeKey struct{ backend, node string }

// lateGauge exists from its first value on: until then a zero would be a wrong answer.
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

// node is what is counted for one node.
type node struct {
	metrics *metrics
	labels  nodeKey
	// up, and usable, which says whether it may vote, do not exist before they are known.
	up, usable lateGauge
	// restarts are those that keep the node from voting for a while, and those that do not; it was found to have evicted keys.
	enforced, tolerated, evicted prometheus.Counter

	ops [len(operations)]atomic.Pointer[nodeOp]
}

type nodeOp struct {
	duration prometheus.Observer
	failures [failures]prometheus.Counter
}

func (m *metrics) node(backend lock.Backend, name string) *node {
	key := nodeKey{backend.Name, name}
	if n := (*m.byNode.Load())[key]; n != nil {
		return n
	}
	return m.addNode(key)
}

func (m *metrics) addNode(key nodeKey) *node {
	m.nodesMu.Lock()
	defer m.nodesMu.Unlock()
	known := *m.byNode.Load()
	if known[key] == nil && len(known) >= maxNodeLabels {
		key = nodeKey{label.Other, label.Other}
	}
	if n := known[key]; n != nil {
		return n
	}
	labels := nodeKey{label.Cut(key.backend), label.Cut(key.node)}
	n := &node{
		metrics: m, labels: labels,
		up: lateGauge{vec: m.nodeUp}, usable: lateGauge{vec: m.nodeUsable},
		enforced:  m.nodeRestarts.WithLabelValues(labels.node, labels.backend, "true"),
		tolerated: m.nodeRestarts.WithLabelValues(labels.node, labels.backend, "false"),
		evicted:   m.nodeEvicted.WithLabelValues(labels.node, labels.backend),
	}
	for i := range 3 {
		n.op(operations[i])
	}
	more := maps.Clone(known)
	if more == nil {
		more = make(map[nodeKey]*node)
	}
	more[nodeKey{strings.Clone(key.backend), strings.Clone(key.node)}] = n
	m.byNode.Store(&more)
	return n
}

// op may make the same children twice at a time: they are the same.
func (n *node) op(name lock.Operation) *nodeOp {
	i := operationIndex(name)
	if op := n.ops[i].Load(); op != nil {
		return op
	}
	label := string(operations[i])
	op := &nodeOp{duration: n.metrics.nodeDuration.WithLabelValues(n.labels.node, n.labels.backend, label)}
	for j := range op.failures {
		op.failures[j] = n.metrics.nodeFailures.WithLabelValues(n.labels.node, n.labels.backend, label, failureNames[j])
	}
	n.ops[i].Store(op)
	return op
}

// size is how many nodes there are, and how many must agree.
type size struct{ nodes, quorum int }

// maxBackends bounds the sets of nodes that are told apart.
const maxBackends = 100

// setNodes does nothing while nothing changes.
func (m *metrics) setNodes(backend lock.Backend, now size) {
	if known, ok := m.sizes.Load(backend.Name); ok && known == now {
		return
	}
	m.nodesMu.Lock()
	defer m.nodesMu.Unlock()
	label := label.Cut(backend.Name)
	if _, ok := m.sizes.Load(backend.Name); !ok {
		if m.backends++; m.backends > maxBackends {
			return
		}
	}
	m.sizes.Store(strings.Clone(backend.Name), now)
	m.nodes.WithLabelValues(label).Set(float64(now.nodes))
	m.quorum.WithLabelValues(label).Set(float64(now.quorum))
}

// done counts a command. What was not asked, or given up, says nothing new of whether
// the node is up.
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
	why := failureOf(e.Err)
	op.failures[why].Inc()
	if why.sent() {
		op.duration.Observe(e.Took.Seconds())
	}
	switch {
	case why == failCanceled || why == failBusy:
	case driver.ClassOf(e.Err).Silent():
		n.up.set(n.labels, 0)
		n.usable.set(n.labels, 0)
	case why == failGuard:
		n.up.set(n.labels, 1)
		n.usable.set(n.labels, 0)
	default:
		n.up.set(n.labels, 1)
	}
}

// votes reports that a node which may not vote does not carry the operation out.
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
