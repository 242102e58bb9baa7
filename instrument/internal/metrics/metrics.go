// Package metrics counts what calls, leases and nodes do: the metrics of package instrument, whose document
// describes them. It is told of everything, by the one who knows, and asks nobody.
package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/panics"
	"github.com/lockscope/lockscope/lock"
)

// Metrics are those of one registry. They are a [prometheus.Collector], and safe for concurrent use.
type Metrics struct {
	settings Settings
	*catalogue
	labels *labelSet
	nodes  *nodes
}

// New makes metrics in which nothing is counted yet.
func New(s Settings) *Metrics {
	c := newCatalogue(s.Native, s.Labels)
	return &Metrics{settings: s, catalogue: c, labels: newLabelSet(c, s), nodes: newNodes(c)}
}

// Settings are those that New was given.
func (m *Metrics) Settings() Settings { return m.settings }

// Panics counts panics of those who observe.
func (m *Metrics) Panics() panics.Counter { return panics.NewCounter(m.panics) }

// Reserve gives resources a label of their own, which exists from now on.
func (m *Metrics) Reserve(resources []string) { m.labels.reserve(resources) }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector. It lets go of what has been idle for long.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	m.labels.letGo(now)
	m.labels.tellWaits(now, m.settings.WaitObjective)
	for _, c := range m.all {
		c.Collect(ch)
	}
}

// Begin counts a call of Acquire that begins now. own computes the label of its resource, as
// label.Fold does where it is nil or returns "".
func (m *Metrics) Begin(ctx context.Context, c *Call, resource string, own func(string) string) {
	c.resource, c.began = resource, time.Now()
	c.series = m.labels.use(resource, own, c.began)
	if len(m.settings.Labels) > 0 {
		c.series = m.labels.useVariant(ctx, c.series, c.began)
	}
	c.series.waiting.add(&c.entry)
}

// Asked counts the nodes that a call asks.
func (m *Metrics) Asked(e lock.AcquireStart) { m.nodes.resize(e.Backend, size{e.Nodes, e.Quorum}) }

// NodeEnd counts a command on a node.
func (m *Metrics) NodeEnd(e lock.NodeEnd) { m.nodes.node(e.Backend, e.Node).done(e) }

// NodeRestart counts a restart of a node, or an eviction.
func (m *Metrics) NodeRestart(e lock.NodeRestart) { m.nodes.node(e.Backend, e.Node).restarted(e) }
