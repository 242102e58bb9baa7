package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// scannerViews records what the sweeping process sees. A process on standby still serves what it saw when it
// swept, and is ignored. The last known values are kept while no process serves any, so that an alert does not
// end because its source did.
func (m maker) scannerViews() []rulefmt.Rule {
	return []rulefmt.Rule{m.exporterSeen(), m.lastSweep(), m.nodeReached(), m.findings(), m.findingKeys()}
}

// known is how long a source that disappeared is remembered, in seconds.
const known = `30 * 86400`

func (m maker) exporterSeen() rulefmt.Rule {
	return m.record(ExporterSeen, `time() + 0 * count by ($JOB) (distributed_lock_scanner_standby)
		or last_over_time($SELF[1d]) > time() - `+known, "$SELF", ExporterSeen)
}

// lastSweep remembers nodes only while the whole exporter is gone. A node that was removed on purpose
// disappears when the scanner restarts.
func (m maker) lastSweep() rulefmt.Rule {
	return m.record(LastSweep, `max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds)
		or (
			last_over_time($SELF[1d])
			and on ($JOB) $SEEN
			unless on ($JOB) distributed_lock_scanner_last_success_timestamp_seconds
		)`, "$SELF", LastSweep, "$SEEN", ExporterSeen)
}

// nodeReached counts a node that only the scanner cannot reach as reached, because callers still get its votes.
// Only commands of the last two minutes overrule the scanner: NodeUsable itself is kept for longer. A scanner that
// restarts in an outage may not learn any more that its nodes form one Redlock, so what was known stays for an hour.
func (m maker) nodeReached() rulefmt.Rule {
	const reached = `max by ($JOB, lock_node, group) (
			distributed_lock_scanner_up unless on ($JOB, instance) distributed_lock_scanner_standby == 1
		)`
	return m.record(NodeReached, `((`+reached+` == 0 and on ($CLUSTER lock_node) (
			$USABLE >= 0.5
			and on ($CLUSTER lock_node) sum by ($CLUSTER lock_node)
			(rate(distributed_lock_node_duration_seconds_count{operation="acquire"}[2m])) > 0
		)) + 1 or `+reached+`)
		and on ($JOB, lock_node, group) last_over_time(distributed_lock_scanner_quorum_nodes[1h])`, "$USABLE", NodeUsable)
}

// findings counts every process until one has completed a sweep.
func (m maker) findings() rulefmt.Rule {
	return m.record(Findings, `
		max by ($JOB, lock_node, class) (
			distributed_lock_scanner_findings
			and on ($JOB, instance, lock_node) (
				distributed_lock_scanner_last_success_timestamp_seconds
				== on ($JOB, lock_node) group_left ()
				max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds)
			)
		)
		or max by ($JOB, lock_node, class) (distributed_lock_scanner_findings)
		or (
			last_over_time($SELF[1d])
			and on ($JOB) $SEEN
			unless on ($JOB) distributed_lock_scanner_findings
		)`, "$SELF", Findings, "$SEEN", ExporterSeen)
}

// findingKeys counts each process that was the last to sweep some node: others of the job may have other nodes. It
// falls back to the largest count of any node while no scanner reports keys.
func (m maker) findingKeys() rulefmt.Rule {
	return m.record(FindingKeys, `
		max by ($JOB, class) (
			distributed_lock_scanner_finding_keys
			and on ($JOB, instance) (
				distributed_lock_scanner_last_success_timestamp_seconds
				== on ($JOB, lock_node) group_left ()
				max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds)
			)
		)
		or max by ($JOB, class) ($FINDINGS)`, "$FINDINGS", Findings)
}
