package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
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

// node has the counts of one node.
type node struct {
	*catalogue
	labels nodeKey
	// enforced counts restarts that keep the node from voting for a while, tolerated other restarts, and evicted the
	// detections of evicted keys.
	enforced, tolerated, evicted prometheus.Counter

	ops [len(operations)]atomic.Pointer[nodeOp]

	mu     sync.Mutex
	health decorate.NodeHealth
	skew   time.Duration // of its clock; zero: unknown
	off    known         // skew is worth a warning
	evicts known         // it refused because of its eviction policy
}

// known is the decorators that know of a fault of a node. Each logs it.
type known map[*Owner]bool

// isNewTo reports whether a decorator did not know of the fault, which it does from now on.
func (k *known) isNewTo(owner *Owner) bool {
	if *k == nil {
		*k = make(known)
	}
	isNew := !(*k)[owner]
	(*k)[owner] = true
	return isNew
}

// NodeNews are changes of a node, since the last command of the same decorator, that are worth a log record.
type NodeNews struct{ ClockOff, Evicts bool }

// A node's clock is off from clockOff on, until it is below clockRight: a machine whose clock is kept is neither.
const clockOff, clockRight = time.Second, time.Second / 2

// news returns what is new with a command. mu must be held.
func (n *node) news(e locktrace.NodeEnd, owner *Owner) (news NodeNews) {
	if e.ClockSkew != 0 {
		n.skew = e.ClockSkew
		switch skew := n.skew.Abs(); {
		case skew >= clockOff:
			news.ClockOff = n.off.isNewTo(owner)
		case skew < clockRight:
			n.off = nil
		}
	}
	if e.Op != lock.OpAcquire {
		return news
	}
	if driver.ClassOf(e.Err) == driver.Evicting {
		news.Evicts = n.evicts.isNewTo(owner)
	} else {
		n.evicts = nil
	}
	return news
}

type nodeOp struct{ duration prometheus.Observer }

func newNode(c *catalogue, of nodeKey) *node {
	n := &node{
		catalogue: c, labels: of,
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
	if operations[i] == lock.OpAcquire { // rules take its rate, which needs a 0 before the first failure
		for why := range outcome.Failures {
			if why != outcome.NodeCanceled {
				n.failed(lock.OpAcquire, why)
			}
		}
	}
	n.ops[i].Store(op)
	return op
}

// failed makes the series of a reason when it is asked for: nodes times operations times reasons are hundreds, nearly
// all of them 0 for good.
func (n *node) failed(op lock.Operation, why outcome.Failure) prometheus.Counter {
	of := operations[operationIndex(op)]
	return n.nodeFailures.WithLabelValues(n.labels.node, n.labels.backend, string(of), why.String())
}

// done counts a command.
func (n *node) done(e locktrace.NodeEnd, owner *Owner) (news NodeNews) {
	n.mu.Lock()
	n.health.Done(time.Now(), e)
	news = n.news(e, owner)
	n.mu.Unlock()
	op := n.op(e.Op)
	if e.Err == nil {
		op.duration.Observe(e.Took.Seconds())
		return news
	}
	why := outcome.OfNode(e.Err)
	n.failed(e.Op, why).Inc()
	if why.Sent() {
		op.duration.Observe(e.Took.Seconds())
	}
	return news
}

// tell sets the gauges. Those of a node whose state is unknown do not exist: a zero would be wrong.
func (n *node) tell(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	state := n.health.View(now).State
	if state == decorate.NodeUnknown {
		n.nodeUp.DeleteLabelValues(n.labels.node, n.labels.backend)
		n.nodeUsable.DeleteLabelValues(n.labels.node, n.labels.backend)
		n.nodeSkew.DeleteLabelValues(n.labels.node, n.labels.backend)
		return
	}
	n.nodeUp.WithLabelValues(n.labels.node, n.labels.backend).Set(oneIf(state != decorate.NodeDown))
	n.nodeUsable.WithLabelValues(n.labels.node, n.labels.backend).Set(oneIf(state.Votes()))
	if n.skew != 0 {
		n.nodeSkew.WithLabelValues(n.labels.node, n.labels.backend).Set(n.skew.Seconds())
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (n *node) restarted(e locktrace.NodeRestart) {
	switch {
	case e.Evicted:
		n.evicted.Inc()
	case e.Enforced:
		n.enforced.Inc()
	default:
		n.tolerated.Inc()
	}
}
