package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// writerStarved knows the kinds of the holders. No metric has the kind of a waiter, but a reader waits only for a
// writer: one that holds, which silences the alert, or one that waits ahead of the reader.
func (m maker) writerStarved() rulefmt.Rule {
	limit := m.config.Alerts.WriterStarved
	return m.alert(alert{
		name: "DistributedLockWriterStarved", severity: warning, hold: aMinute,
		expr: `max by ($JOB, resource) (
				timestamp(distributed_lock_waiting_since_timestamp_seconds)
				- (distributed_lock_waiting_since_timestamp_seconds > 0)
			) > $LIMIT
			and on ($CLUSTER resource) distributed_lock_construct_held{kind="read"} > 0
			unless on ($CLUSTER resource) distributed_lock_construct_held{kind="write"} > 0
			unless on (resource) $QUEUES`,
		pairs: []string{"$LIMIT", seconds(limit), "$QUEUES", Queues},
		summary: "{{ $labels.resource }}: a call in {{ $labels.job }} has waited {{ $value | humanizeDuration }} " +
			"while readers hold it",
		about: "A call in {{ $labels.job }} has waited {{ $value | humanizeDuration }} for {{ $labels.resource }}, a " +
			"read/write lock that readers hold and no writer does. While a writer waits, later readers wait too.",
		board: constructBoard,
	})
}
