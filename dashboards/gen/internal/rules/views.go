package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// scannerViews records what the scanner sees, by the process that sweeps: one in
// standby keeps what it saw when it swept. What was known last is remembered while
// nothing is served at all, so that an alert does not end because its source has.
func (m maker) scannerViews() []rulefmt.Rule {
	return []rulefmt.Rule{m.exporterSeen(), m.lastSweep(), m.nodeReached(), m.findings(), m.findingKeys()}
}

// known is for how long a source that is gone is still missed.
const known = `30 * 86400`

func (m maker) exporterSeen() rulefmt.Rule {
	return m.record(ExporterSeen, `time() + 0 * count by ($JOB) (distributed_lock_exporter_build_info)
		or last_over_time($SELF[1d]) > time() - `+known, "$SELF", ExporterSeen)
}

// A node that was removed on purpose goes with the scanner's next start; nodes are
// remembered only where the whole exporter is gone.
func (m maker) lastSweep() rulefmt.Rule {
	return m.record(LastSweep, `max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds)
		or (
			last_over_time($SELF[1d])
			and on ($JOB) $SEEN
			unless on ($JOB) distributed_lock_scanner_last_success_timestamp_seconds
		)`, "$SELF", LastSweep, "$SEEN", ExporterSeen)
}

// A node that the scanner alone cannot reach is not lost: callers get its votes. Only what they have seen
// in the last minutes says more than the scanner; a view is kept for longer.
func (m maker) nodeReached() rulefmt.Rule {
	const reached = `max by ($JOB, lock_node, group) (
			distributed_lock_scanner_up unless on ($JOB, instance) distributed_lock_scanner_standby == 1
		)`
	return m.record(NodeReached, `(`+reached+` == 0 and on ($CLUSTER lock_node) (
			$USABLE >= 0.5
			and on ($CLUSTER lock_node) sum by ($CLUSTER lock_node)
			(rate(distributed_lock_node_duration_seconds_count{operation="acquire"}[2m])) > 0
		)) + 1 or `+reached, "$USABLE", NodeUsable)
}

// Until a sweep is complete, every process counts.
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

// While no scanner tells of keys, there are as many as the node has that has most.
func (m maker) findingKeys() rulefmt.Rule {
	return m.record(FindingKeys, `
		max by ($JOB, class) (
			distributed_lock_scanner_finding_keys
			and on ($JOB, instance) (
				max by ($JOB, instance) (distributed_lock_scanner_last_success_timestamp_seconds)
				== on ($JOB) group_left ()
				max by ($JOB) (distributed_lock_scanner_last_success_timestamp_seconds)
			)
		)
		or max by ($JOB, class) ($FINDINGS)`, "$FINDINGS", Findings)
}
