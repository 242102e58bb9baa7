package exporter

import (
	"reflect"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// ConnectionSource reports the connections of a process to its nodes. It must be safe for concurrent use and answer
// from memory. engine.Engine is one.
type ConnectionSource interface {
	Connections() []engine.NodeConnections
}

type connectionCollector struct {
	sources []ConnectionSource

	connections, waiting, dials, failures *prometheus.Desc
}

// NewConnectionCollector makes a collector of the connections of engines, for your own registry; WithConnections is
// the way without one. It adds up the values of several sources for one node of one back end. It ignores a nil
// source, and collects nothing without a source.
func NewConnectionCollector(sources ...ConnectionSource) prometheus.Collector {
	desc := func(name, help string, more ...string) *prometheus.Desc {
		labels := append([]string{"lock_node", "backend"}, more...)
		return prometheus.NewDesc("distributed_lock_"+name, help, labels, nil)
	}
	c := &connectionCollector{
		connections: desc("connections",
			"Open connections to the node, by state: busy or idle.", "state"),
		waiting: desc("connection_waiting", "Commands that wait for a connection to the node."),
		dials: desc("connection_dials_total",
			"Attempts to connect to the node, including failed ones."),
		failures: desc("connection_dial_failures_total", "Failed attempts to connect to the node."),
	}
	for _, s := range sources {
		if s != nil && !isNilPointer(s) {
			c.sources = append(c.sources, s)
		}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *connectionCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.connections
	ch <- c.waiting
	ch <- c.dials
	ch <- c.failures
}

// Collect implements prometheus.Collector.
func (c *connectionCollector) Collect(ch chan<- prometheus.Metric) {
	for node, n := range c.sums() {
		send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, more ...string) {
			labels := append([]string{node.name, node.backend}, more...)
			ch <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
		}
		send(c.connections, prometheus.GaugeValue, float64(n.Busy), "busy")
		send(c.connections, prometheus.GaugeValue, float64(n.Open-n.Busy), "idle")
		send(c.waiting, prometheus.GaugeValue, float64(n.Waiting))
		send(c.dials, prometheus.CounterValue, float64(n.Dials))
		send(c.failures, prometheus.CounterValue, float64(n.DialFailures))
	}
}

// connectedNode identifies a node. Two series with the same labels would fail the whole scrape.
type connectedNode struct{ name, backend string }

func (c *connectionCollector) sums() map[connectedNode]driver.Connections {
	sums := make(map[connectedNode]driver.Connections)
	for _, s := range c.sources {
		for _, n := range s.Connections() {
			key := connectedNode{label(n.Node, maxKeyLabel), label(n.Backend.Name, maxKeyLabel)}
			sum := sums[key]
			sum.Open += n.Open
			sum.Busy += n.Busy
			sum.Waiting += n.Waiting
			sum.Dials += n.Dials
			sum.DialFailures += n.DialFailures
			sums[key] = sum
		}
	}
	return sums
}

// isNilPointer tells a nil pointer in an interface, which would panic at the first request, from a nil interface,
// which is an omitted option.
func isNilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
