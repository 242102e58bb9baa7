package exporter

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/scanner"
)

// nodeMetric is a metric with one value for each node.
type nodeMetric struct {
	desc     *prometheus.Desc
	kind     prometheus.ValueType
	value    func(n *scanner.NodeTotals) float64
	lasts    bool // also reported by a standby: it is about the past
	group    bool // it has the label group: a system beside Redis is one of its own
	redis    bool // only of Redis: of other systems nobody counts it
	omitZero bool
}

func (m *nodeMetric) has(n *scanner.NodeTotals, standby bool) bool {
	return (m.lasts || !standby) && !(m.redis && n.Backend != "") && !(m.omitZero && m.value(n) == 0)
}

func (m *nodeMetric) of(n *scanner.NodeTotals, name string) prometheus.Metric {
	labels := []string{name}
	if m.group {
		labels = append(labels, label(cmp.Or(n.Group, n.Backend), maxKeyLabel))
	}
	return prometheus.MustNewConstMetric(m.desc, m.kind, m.value(n), labels...)
}

func nodeMetrics() []nodeMetric {
	gauge := func(name, help string, value func(n *scanner.NodeTotals) float64) nodeMetric {
		return nodeMetric{
			desc: desc(name, help, "lock_node"), kind: prometheus.GaugeValue, value: value,
			lasts: name == "last_success_timestamp_seconds",
		}
	}
	counter := func(name, help string, value func(n *scanner.NodeTotals) uint64) nodeMetric {
		return nodeMetric{
			desc: desc(name, help, "lock_node"), kind: prometheus.CounterValue, lasts: true,
			value: func(n *scanner.NodeTotals) float64 { return float64(value(n)) },
		}
	}
	return []nodeMetric{
		{
			desc: desc("up",
				"1 if the last sweep reached the node, else 0; group is empty if Redis servers have no groups."+cached,
				"lock_node", "group"),
			kind: prometheus.GaugeValue, group: true,
			value: func(n *scanner.NodeTotals) float64 { return boolean(n.Up) },
		},
		{
			desc: desc("quorum_nodes",
				"Nodes of the group that a quorum needs; absent unless they are known to form one Redlock."+cached,
				"lock_node", "group"),
			kind: prometheus.GaugeValue, group: true, omitZero: true,
			value: func(n *scanner.NodeTotals) float64 { return float64(n.Quorum) },
		},
		gauge("locks", "Keys that matched a pattern in the last complete sweep."+cached,
			func(n *scanner.NodeTotals) float64 { return float64(n.Locks) }),
		gauge("leaked_locks",
			"Confirmed locks without a TTL, plus unconfirmed ones beyond the limit of findings."+cached,
			func(n *scanner.NodeTotals) float64 { return float64(n.Leaked) }),
		gauge("overlong_locks",
			"Confirmed locks with a TTL above the limit, plus unconfirmed ones beyond the limit of findings."+cached,
			func(n *scanner.NodeTotals) float64 { return float64(n.Overlong) }),
		gauge("oldest_leak_seconds",
			"Time since the oldest leaked lock was first seen, in seconds; 0 if there is none."+cached,
			func(n *scanner.NodeTotals) float64 { return n.OldestLeak.Seconds() }),
		gauge("last_success_timestamp_seconds",
			"End of the last complete sweep of the node, in seconds since 1970; 0 before the first.",
			func(n *scanner.NodeTotals) float64 { return seconds(n.LastSuccess) }),
		gauge("truncated", "1 if the last sweep stopped at a limit and its counts are lower bounds, else 0."+cached,
			func(n *scanner.NodeTotals) float64 { return boolean(n.Truncated) }),
		counter("passes_total", "Sweeps of the node, including failed ones.",
			func(n *scanner.NodeTotals) uint64 { return n.Passes }),
		counter("pass_failures_total", "Sweeps of the node that ended with an error.",
			func(n *scanner.NodeTotals) uint64 { return n.PassFailures }),
		counter("keys_examined_total", "Keys that the server examined, whether or not they are locks.",
			func(n *scanner.NodeTotals) uint64 { return n.Examined }),
		ofRedis(counter("scan_calls_total", "Commands sent to the node; Redis only.",
			func(n *scanner.NodeTotals) uint64 { return n.Calls })),
	}
}

func ofRedis(m nodeMetric) nodeMetric {
	m.redis = true
	return m
}
