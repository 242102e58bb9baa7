package rules

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// ofOutage is the group that is evaluated twice as often as others: what nobody is served in is told of at once.
func (m maker) ofOutage() Group {
	g := m.group("distributed-lock-outage", []rulefmt.Rule{m.stalled(), m.acquiresStalled()})
	g.Interval /= 2
	return g
}

// stalled records calls under way that wait for nodes, not for a holder, of each process: one that is cut off
// alone is seen. Processes of earlier versions do not say so themselves. Of them it is what waits while more nodes
// are out of reach than may be. Where such a process has several sets of nodes, one that nobody asks is not
// believed: its gauges are of the last command, which may be of yesterday.
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

// unserved records what would have been acquired while calls are stalled, a second: as many as stalled processes
// get on other days and do not fail already, or each stalled call once a minute, whichever is more. There is none
// while nothing stalls.
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

// A queue that waits for nodes is no queue: it does not matter how long it is, nor whether it is meant to be.
func (m maker) acquiresStalled() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockAcquiresStalled", severity: critical, hold: model.Duration(time.Minute),
		expr:  `sum by ($JOB, resource) ($STALLED) > 0`,
		pairs: []string{"$STALLED", Stalled},
		summary: "{{ $labels.resource }}: {{ $value | humanize }} calls of {{ $labels.job }} wait for nodes that do " +
			"not answer",
		about: "{{ $value | humanize }} calls of Acquire in {{ $labels.job }} wait for {{ $labels.resource }} because " +
			"too few lock nodes answer them, not because somebody holds it. None of them has returned, so no counter of " +
			"failures shows them.",
		board: resourceBoard,
	})
}
