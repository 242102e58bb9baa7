package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// skew is how far the clocks of a leader and of Prometheus may differ, in seconds.
const skew = "5"

// noElections leaves out elections: a campaign waits for as long as another process leads, and a deployment ends it
// without a term. Neither is a slow or a failed acquire.
const noElections = ` unless on ($JOB, resource) distributed_lock_candidates`

// noLeader relies on candidates, which see the holder on the nodes: a leader that is not scraped is a leader. Where a
// process of the job leads, a candidate that sees none is cut off.
func (m maker) noLeader() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockNoLeader", severity: critical, hold: m.config.Alerts.NoLeader,
		expr: `sum by ($JOB, resource) (distributed_lock_candidates) > 0
			unless on ($JOB, resource) (
				distributed_lock_candidates{leader="seen"} > 0
				or distributed_lock_construct_held{kind="election"} > 0
			)`,
		summary: "{{ $labels.resource }}: nobody leads; candidates in {{ $labels.job }}: {{ $value }}",
		about: "Candidates in {{ $labels.job }} campaign for {{ $labels.resource }} and see no leader: {{ $value }}. No " +
			"process of the job leads. The work that needs a leader has not been done since.",
		board: constructBoard,
	})
}

// twoTerms counts leaders by their samples. A leader that crashed has a last sample in which it leads, and that stays
// for up to five minutes if Prometheus itself did not run. It was taken before the newest term began, so it does not
// count. Nor does a term younger than the skew.
func (m maker) twoTerms() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockTwoTerms", severity: critical, hold: aMinute,
		expr: `sum by ($JOB, resource) (
				distributed_lock_construct_held{kind="election"}
				and on ($JOB, instance, resource) (
					timestamp(distributed_lock_term_since_timestamp_seconds) - $SKEW
					> on ($JOB, resource) group_left ()
					max by ($JOB, resource) (distributed_lock_term_since_timestamp_seconds)
				)
			) > 1`,
		pairs:   []string{"$SKEW", skew},
		summary: "{{ $labels.resource }}: {{ $value }} terms are valid at once in {{ $labels.job }}",
		about: "{{ $value }} terms of {{ $labels.resource }} in {{ $labels.job }} have been valid at once for a minute. " +
			"Leaders do the same work twice. Only writes that carry the number of the term are safe.",
		board: constructBoard,
	})
}

// semaphoreFull adds up the holders of all jobs of a cluster: services share a semaphore.
func (m maker) semaphoreFull() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockSemaphoreFull", severity: warning, hold: m.config.Alerts.SemaphoreFull,
		expr: `sum by ($JOB, resource) (distributed_lock_construct_waiting{kind="semaphore"}) > 0
			and on ($CLUSTER resource) (
				sum by ($CLUSTER resource) (distributed_lock_construct_held{kind="semaphore"})
				>= max by ($CLUSTER resource) (distributed_lock_slots)
			)
			unless on (resource) $QUEUES`,
		pairs:   []string{"$QUEUES", Queues},
		summary: "{{ $labels.resource }}: all slots are in use; callers in {{ $labels.job }} that wait: {{ $value }}",
		about: "All slots of {{ $labels.resource }} have been in use for " + m.config.Alerts.SemaphoreFull.String() +
			" while callers in {{ $labels.job }} wait: {{ $value }}. Either holders keep their slots for long or there " +
			"are too few.",
		board: constructBoard,
	})
}
