package rules

import (
	"slices"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// ofOutage returns the group of total outages and what they cost. Prometheus evaluates it twice as often as the
// others: its alerts fire within two minutes.
func (m maker) ofOutage() Group {
	g := m.group("distributed-lock-outage", slices.Concat([]rulefmt.Rule{m.stalled()}, m.usable(),
		[]rulefmt.Rule{m.record(QuorumMissing, quorumMissing, ofViews...), m.quorumLost()}, m.lately(),
		[]rulefmt.Rule{m.acquiresStalled(), m.instanceStalled(), m.lost(), m.noLeader(), m.twoTerms()}))
	g.Interval /= 2
	return g
}

// stalled records, per process, the calls in progress that wait for nodes rather than for a holder. Recording
// per process shows a single process that is cut off. Processes of earlier versions do not report such calls:
// for them, every waiting call counts while more nodes are unreachable than the quorum allows. If such a process
// has several sets of nodes, a set without recent commands is ignored: in those versions its gauges describe
// the last command, which may be a day old.
func (m maker) stalled() rulefmt.Rule {
	return m.record(Stalled, `sum by ($JOB, instance, resource) (
			distributed_lock_waiting_without_quorum > 0
			or (
				distributed_lock_waiting > 0
				and on ($JOB, instance) (
					count by ($JOB, instance, backend) (
						distributed_lock_node_usable == 0
						unless on ($JOB, instance, backend) (
							distributed_lock_nodes
							and on ($JOB, instance) count by ($JOB, instance) (distributed_lock_nodes) > 1
							unless on ($JOB, instance, backend) sum by ($JOB, instance, backend) (
								increase(distributed_lock_node_failures_total{operation="acquire",reason!="canceled"}[2m])
							) > 0
						)
					)
					> on ($JOB, instance, backend) (
						max by ($JOB, instance, backend) (distributed_lock_nodes)
						- max by ($JOB, instance, backend) (distributed_lock_quorum_nodes)
					)
				)
				unless on ($JOB, instance) distributed_lock_waiting_without_quorum
			)
		)`)
}

// unserved records the acquires per second that stalled calls prevent. It takes the larger of two estimates:
// the acquires that the stalled processes normally make, less those already counted as failed, or one acquire
// a minute for each stalled call. The series is absent while nothing stalls.
func (m maker) unserved() rulefmt.Rule {
	const each = `sum by ($JOB, resource) ($STALLED) / 60`
	return m.record(Unserved, `
			avg_over_time($ACQUIRED[1d] offset 5m)
				* on ($JOB, resource) count by ($JOB, resource) ($STALLED)
				/ on ($JOB, resource) count by ($JOB, resource) (sum by ($JOB, instance, resource) (distributed_lock_waiting))
				- on ($JOB, resource) sum by ($JOB, resource) (rate(distributed_lock_failures_total[5m]))
			> `+each+`
			or `+each, "$STALLED", Stalled, "$ACQUIRED", Acquired)
}

// acquiresStalled fires for any number of stalled calls, also where queues are expected: callers that wait for
// nodes do not queue for a lock.
func (m maker) acquiresStalled() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockAcquiresStalled", severity: critical, hold: aMinute,
		expr:  `sum by ($JOB, resource) ($STALLED) > 0`,
		pairs: []string{"$STALLED", Stalled},
		summary: "{{ $labels.resource }}: {{ $value | humanize }} calls in {{ $labels.job }} wait for lock nodes that " +
			"do not answer",
		about: "{{ $value | humanize }} calls of Acquire in {{ $labels.job }} wait for {{ $labels.resource }} because " +
			"too few lock nodes answer, not because another caller holds the lock. The calls have not returned, so no " +
			"failure counter includes them.",
		board: resourceBoard,
	})
}

// instanceStalled is about processes that get no lock while another one of their job does: the nodes answer.
func (m maker) instanceStalled() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockInstanceStalled", severity: critical, hold: aMinute,
		expr: `sum by ($JOB, instance) ($STALLED) > 0
			and on ($JOB) (
				sum by ($JOB, instance) (rate(distributed_lock_acquisitions_total{outcome="acquired"}[2m])) > 0
				unless on ($JOB, instance) $STALLED
			)`,
		pairs: []string{"$STALLED", Stalled},
		summary: "{{ $labels.instance }}: {{ $value | humanize }} calls wait for lock nodes, while other processes of " +
			"{{ $labels.job }} get locks",
		about: "{{ $value | humanize }} calls of Acquire in {{ $labels.instance }} of {{ $labels.job }} wait because too few " +
			"lock nodes answer this process. Other processes of the job get locks. Check the addresses, the credentials and " +
			"the network of this process.",
		board: nodesBoard + "&var-instance={{ $labels.instance | urlquery }}",
	})
}
