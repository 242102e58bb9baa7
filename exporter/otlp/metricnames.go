package otlp

import (
	"strings"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// ours is what the names of lockscope's metrics begin with.
const ours = "distributed_lock_"

// namespaces are the parts of a name that several metrics share. One that is a metric's own name, as
// nodes is, is none.
var namespaces = [...]string{"node_", "connection_", "scanner_", "exporter_"}

// counted is what a metric counts, by its name in Prometheus without what all of them begin with.
// Nothing is said of those that are 0 or 1: of the unit "1", Prometheus would make a ratio.
var counted = map[string]string{
	"failures_total": "call", "acquisitions_total": "call", "waiting": "call", "waiting_above_objective": "call",
	"waiting_without_quorum": "call", "long_waits_total": "call",
	"resource_overflow_total": "call", "label_overflow_total": "call", "attempts_total": "attempt",
	"handovers_total": "handover",
	"deadlocks_total": "deadlock", "held": "lease", "lost_total": "lease", "extensions_total": "extension",
	"release_failures_total": "release", "node_failures_total": "command", "node_restarts_total": "restart",
	"node_evictions_total": "eviction",
	"nodes":                "node", "quorum_nodes": "node", "vote_margin": "vote", "observer_panics_total": "panic",
	"connections": "connection", "connection_waiting": "command", "connection_dials_total": "dial",
	"connection_dial_failures_total": "dial",
	"scanner_locks":                  "lock", "scanner_leaked_locks": "lock", "scanner_overlong_locks": "lock",
	"scanner_findings": "finding", "scanner_finding_keys": "key", "scanner_findings_omitted": "finding",
	"scanner_passes_total":        "pass",
	"scanner_pass_failures_total": "pass", "scanner_keys_examined_total": "key", "scanner_scan_calls_total": "call",
}

// rename changes a metric that is ours. What makes its Prometheus name of the new one, dots and unit
// and the end of a counter, leads back to the old.
func rename(m *metricdata.Metrics) {
	name, found := strings.CutPrefix(m.Name, ours)
	if !found {
		return
	}
	if what := counted[name]; what != "" {
		m.Unit = "{" + what + "}"
	}
	if sum, ok := m.Data.(metricdata.Sum[float64]); ok && sum.IsMonotonic {
		name = strings.TrimSuffix(name, "_total")
	}
	if rest, ok := strings.CutSuffix(name, "_seconds"); ok {
		name, m.Unit = rest, "s"
	}
	for _, space := range namespaces {
		if rest, ok := strings.CutPrefix(name, space); ok {
			name = strings.TrimSuffix(space, "_") + "." + rest
			break
		}
	}
	m.Name = "distributed_lock." + name
}
