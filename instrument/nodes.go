package instrument

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// maxNodeLabels is how many values the label redis_node may take; no Redlock has more nodes.
const maxNodeLabels = lock.MaxNodes

// failure indexes the values of the label reason of node_failures_total.
type failure int

const (
	failTimeout failure = iota
	failCanceled
	failRefused
	failReadonly
	failNoScript
	failBusy
	failGuard
	failOther
	failures
)

var failureNames = [failures]string{"timeout", "canceled", "refused", "readonly", "noscript", "busy", "guard", "other"}

func (f failure) String() string { return failureNames[f] }

func failureOf(err error) failure {
	switch class := driver.ClassOf(err); {
	case class.Barred():
		return failGuard
	case class == driver.Busy:
		return failBusy
	case class == driver.Timeout:
		return failTimeout
	case errors.Is(err, context.Canceled):
		return failCanceled
	case errors.Is(err, syscall.ECONNREFUSED):
		return failRefused
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
	lock.OpAcquire, lock.OpExtend, lock.OpRelease, lock.OpRaise, lock.OpLeave, lock.OpSubscribe, otherLabel,
}

func operationIndex(op lock.Operation) int {
	for i, known := range operations {
		if op == known {
			return i
		}
	}
	return len(operations) - 1
}

// node is what is counted for one node.
type node struct {
	metrics *metrics
	label   string
	up      prometheus.Gauge
	// restarts are those that keep the node from voting for a while, and those that do not.
	enforced, tolerated prometheus.Counter

	ops [len(operations)]atomic.Pointer[nodeOp]
}

type nodeOp struct {
	duration prometheus.Observer
	failures [failures]prometheus.Counter
}

func (m *metrics) node(name string) *node {
	if n := (*m.byNode.Load())[name]; n != nil {
		return n
	}
	return m.addNode(name)
}

func (m *metrics) addNode(name string) *node {
	m.nodesMu.Lock()
	defer m.nodesMu.Unlock()
	known := *m.byNode.Load()
	if known[name] == nil && len(known) >= maxNodeLabels {
		name = otherLabel
	}
	if n := known[name]; n != nil {
		return n
	}
	label := validLabel(name[:min(len(name), maxLabel)])
	n := &node{
		metrics: m, label: label, up: m.nodeUp.WithLabelValues(label),
		enforced: m.nodeRestarts.WithLabelValues(label, "true"), tolerated: m.nodeRestarts.WithLabelValues(label, "false"),
	}
	for i := range 3 {
		n.op(operations[i])
	}
	more := maps.Clone(known)
	if more == nil {
		more = make(map[string]*node)
	}
	more[strings.Clone(name)] = n
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
	op := &nodeOp{duration: n.metrics.nodeDuration.WithLabelValues(n.label, label)}
	for j := range op.failures {
		op.failures[j] = n.metrics.nodeFailures.WithLabelValues(n.label, label, failureNames[j])
	}
	n.ops[i].Store(op)
	return op
}

// setNodes does nothing while nothing changes.
func (m *metrics) setNodes(nodes, quorum int) {
	size := int64(nodes)<<32 | int64(quorum)
	if m.size.Swap(size) != size {
		m.nodes.WithLabelValues().Set(float64(nodes))
		m.quorum.WithLabelValues().Set(float64(quorum))
	}
}

// done counts a command. What was not sent took no time and says nothing new of
// whether the node is up.
func (n *node) done(e lock.NodeEnd) {
	op := n.op(e.Op)
	if e.Err == nil {
		op.duration.Observe(e.Took.Seconds())
		n.up.Set(1)
		return
	}
	why := failureOf(e.Err)
	op.failures[why].Inc()
	switch {
	case why == failCanceled:
	case driver.ClassOf(e.Err).Silent():
		if !e.Undialed() {
			op.duration.Observe(e.Took.Seconds())
		}
		n.up.Set(0)
	case why == failGuard:
		n.up.Set(1)
	case why != failBusy:
		op.duration.Observe(e.Took.Seconds())
		n.up.Set(1)
	}
}

func (n *node) restarted(e lock.NodeRestart) {
	if e.Enforced {
		n.enforced.Inc()
		return
	}
	n.tolerated.Inc()
}
