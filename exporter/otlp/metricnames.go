package otlp

import (
	"strings"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// ours is the prefix of lockscope's metrics.
const ours = "distributed_lock_"

// namespaces are the parts of a name that several metrics share. A part that is itself a metric, such as nodes, is
// not one.
var namespaces = [...]string{"node_", "connection_", "scanner_", "exporter_"}

// counted is the unit of a metric, by its Prometheus name without the common prefix. Metrics with values 0 or 1 have
// none: Prometheus would turn the unit "1" into a ratio.
var counted = map[string]string{
	"failures_total": "call", "acquisitions_total": "call", "waiting": "call", "waiting_above_objective": "call",
	"waiting_without_quorum": "call", "long_waits_total": "call", "polled_total": "call", "unprotected_runs_total": "run",
	"resource_overflow_total": "call", "label_overflow_total": "call", "attempts_total": "attempt",
	"handovers_total": "handover", "outlived_total": "lease", "close_calls_total": "lease", "unfenced_total": "lease",
	"deadlocks_total": "deadlock", "held": "lease", "lost_total": "lease", "extensions_total": "extension",
	"release_failures_total": "release", "node_failures_total": "command", "node_restarts_total": "restart",
	"node_evictions_total": "eviction",
	"construct_held":       "lease", "construct_waiting": "call", "construct_ended_total": "lease", "candidates": "campaign", "slots": "slot",
	"nodes": "node", "quorum_nodes": "node", "vote_margin": "vote", "observer_panics_total": "panic",
	"connections": "connection", "connection_waiting": "command", "connection_dials_total": "dial",
	"connection_dial_failures_total": "dial",
	"scanner_locks":                  "lock", "scanner_leaked_locks": "lock", "scanner_overlong_locks": "lock", "scanner_silent_locks": "lock",
	"scanner_findings": "finding", "scanner_finding_keys": "key", "scanner_findings_omitted": "finding",
	"scanner_passes_total": "pass", "scanner_memory_failures_total": "pass",
	"scanner_pass_failures_total": "pass", "scanner_keys_examined_total": "key", "scanner_scan_calls_total": "call",
}

// rename renames a metric of lockscope. The rules that make a Prometheus name of the new name restore the old one.
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
