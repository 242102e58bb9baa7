// Package metrics counts what calls, leases and nodes do. The documentation of package instrument describes the
// metrics. Callers report events to it; it asks nobody.
package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock/locktrace"
)

// Metrics are the metrics of one registry. They are a [prometheus.Collector], and safe for concurrent use.
type Metrics struct {
	settings Settings
	*catalogue
	labels *labelSet
	nodes  *nodes
}

// New makes metrics with nothing counted.
func New(s Settings) *Metrics {
	c := newCatalogue(s)
	return &Metrics{settings: s, catalogue: c, labels: newLabelSet(c, s), nodes: newNodes(c)}
}

// Settings returns the settings given to New.
func (m *Metrics) Settings() Settings { return m.settings }

// Panics recovers and counts panics of observers.
func (m *Metrics) Panics() Panics { return Panics{m.panics} }

// Panics keeps panics of observers from callers that lock.
type Panics struct{ n prometheus.Counter }

// Contain recovers a panic and counts it. It must be deferred itself.
func (p Panics) Contain() {
	if recover() != nil {
		p.n.Inc()
	}
}

// Reserve gives resources their own label, which exists from now on.
func (m *Metrics) Reserve(resources []string) { m.labels.reserve(resources) }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector. It drops values that were idle for long.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	m.labels.letGo(now)
	m.blame.letGo(now)
	m.labels.tell(now, m.settings.WaitObjective)
	m.nodes.tell(now)
	for _, c := range m.all {
		c.Collect(ch)
	}
}

// Begin counts a call of Acquire that begins now. Its label is that of name: the resource or, for a slot, its
// semaphore.
func (m *Metrics) Begin(ctx context.Context, c *Call, resource, name string, owner *Owner) {
	c.resource, c.owner, c.began = resource, owner, time.Now()
	c.series = m.labels.use(name, owner.Label, c.began)
	if len(m.settings.Labels) > 0 {
		c.series = m.labels.useVariant(ctx, c.series, c.began)
	}
	c.series.waiting.add(&c.entry)
}

// Unprotected counts work that runs without a lock, and returns the label of its resource. The series exists from the first
// such run on, without the labels of calls.
func (m *Metrics) Unprotected(resource string, owner *Owner) (label string) {
	s := m.labels.use(resource, owner.Label, time.Now())
	defer s.done()
	m.unprotected.WithLabelValues(append([]string{s.label}, make([]string, len(m.settings.Labels))...)...).Inc()
	return s.label
}

// Asked records the number of nodes that a call asks.
func (m *Metrics) Asked(e locktrace.AcquireStart) { m.nodes.resize(e.Backend, size{e.Nodes, e.Quorum}) }

// NodeEnd counts a command on a node, and returns what is new to the decorator.
func (m *Metrics) NodeEnd(e locktrace.NodeEnd, owner *Owner) NodeNews {
	return m.nodes.node(e.Backend, e.Node).done(e, owner)
}

// NodeRestart counts a restart of a node, or an eviction.
func (m *Metrics) NodeRestart(e locktrace.NodeRestart) { m.nodes.node(e.Backend, e.Node).restarted(e) }
