package rules

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func (m maker) resources() []rulefmt.Rule {
	return []rulefmt.Rule{m.waitP99(), m.everyAcquireFails(), m.overdue(), m.lost(), m.maxHold(), m.retryStorm(),
		m.pilingUp(), m.releases(),
		m.overflow(), m.deadlocked()}
}

// atLeast is a bound for a count that is added up from rates and so is no whole number.
func atLeast(n int) string { return number(float64(n) - 0.5) }

// waitP99 looks back for as long as it takes to see enough: five minutes, an hour where
// there were no ten acquires, or six. Slow waits are counted from the bucket below the limit. A window of hours
// keeps what is over: there must be slow waits in its latest part as well.
func (m maker) waitP99() rulefmt.Rule {
	limit := number(m.config.Alerts.WaitP99Seconds)
	return m.alert(alert{
		name: "DistributedLockWaitP99High", severity: warning, hold: 2 * fiveMinutes,
		expr: `(
				$P99_5M > $LIMIT and $SLOW * 300 > $BAD
				or ($P99_1H > $LIMIT and sum_over_time($SLOW[1h]) * $INTERVAL > $BAD and sum_over_time($SLOW[15m]) > 0
				unless $WAITS * 300 >= $ACQUIRES)
				or ($P99_6H > $LIMIT and sum_over_time($SLOW[6h]) * $INTERVAL > $BAD and sum_over_time($SLOW[1h]) > 0
					unless sum_over_time($WAITS[1h]) * $INTERVAL >= $ACQUIRES)
			) unless on (resource) $QUEUES`,
		pairs: []string{"$P99_5M", P99(fiveMinutes), "$P99_1H", P99(anHour), "$P99_6H", P99(sixHours), "$LIMIT", limit,
			"$SLOW", AboveLimit, "$BAD", atLeast(m.config.SLO.MinBad), "$WAITS", Waits, "$INTERVAL",
			seconds(m.config.Interval),
			"$ACQUIRES", number(float64(m.config.SLO.MinAcquires)), "$QUEUES", Queues},
		summary: "{{ $labels.resource }}: one acquire in a hundred waits for longer than " + limit + " s",
		about: "The p99 of waiting for {{ $labels.resource }} in {{ $labels.job }} is {{ $value | humanizeDuration " +
			"}}, above " + limit + " s: of the last five minutes, " +
			"or of an hour or six where there were fewer than ten acquires. Slow ones go on, or ended less than an hour ago.",
		board: resourceBoard,
	})
}

// A lease that reached its MaxHold ended as configured: see maxHold. The first evaluation
// after a loss sees a part of it only, which is told as one.
func (m maker) lost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockLost", severity: critical,
		expr:    `clamp_min(round(sum_over_time($LOST{reason!="max_hold"}[15m]) * $INTERVAL > 0), 1)`,
		pairs:   []string{"$LOST", Lost, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: a lease was lost while it was in use ({{ $labels.reason }})",
		about: "{{ $labels.job }} lost about {{ $value | humanize }} leases of {{ $labels.resource }} in the last 15 " +
			"minutes: {{ $labels.reason }}. Work that does not heed its context or its fencing token may have run beside " +
			"another holder's.",
		board: resourceBoard,
	})
}

func (m maker) maxHold() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockMaxHoldReached", severity: warning,
		expr: `clamp_min(round(sum by ($JOB, resource) (sum_over_time($LOST{reason="max_hold"}[15m])) * $INTERVAL > 0),
			1)`,
		pairs:   []string{"$LOST", Lost, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: a lease was held until its MaxHold",
		about: "About {{ $value | humanize }} leases of {{ $labels.resource }} in {{ $labels.job }} reached their MaxHold " +
			"in the last 15 minutes and were no longer renewed: work that takes too long, or a lease that nobody releases.",
		board: resourceBoard,
	})
}

// The number of attempts is compared with that of acquires without dividing: in the
// worst storm no acquire ends at all.
func (m maker) retryStorm() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockRetryStorm", severity: warning, hold: 2 * fiveMinutes,
		expr: `sum by ($JOB, resource) (rate(distributed_lock_attempts_total[5m])) > $RATE
			and sum by ($JOB, resource) (rate(distributed_lock_attempts_total[5m])) > $FACTOR * $WAITS`,
		pairs: []string{"$RATE", number(t.AttemptsPerSecond), "$FACTOR", number(t.AttemptsPerAcquire), "$WAITS",
			Waits},
		summary: "{{ $labels.resource }}: more than " + number(t.AttemptsPerAcquire) + " attempts for every acquire",
		about: "{{ $labels.job }} makes {{ $value | humanize }} attempts a second at {{ $labels.resource }}, " +
			"more than " + number(t.AttemptsPerAcquire) +
			" for every acquire that ends. They load every node and rarely win.",
		board: resourceBoard,
	})
}

// A queue is judged by how long it takes to empty at the present pace: a hundred
// waiters are nothing if a thousand are served a second.
func (m maker) pilingUp() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockWaitersPilingUp", severity: warning, hold: fiveMinutes,
		expr: `sum by ($JOB, resource) (distributed_lock_waiting) >= $WAITERS
			and sum by ($JOB, resource) (distributed_lock_waiting) > $DRAIN * $ACQUIRED
			unless on (resource) $QUEUES`,
		pairs: []string{"$WAITERS", number(t.Waiters), "$DRAIN", number(t.DrainSeconds), "$ACQUIRED", Acquired,
			"$QUEUES", Queues},
		summary: "{{ $labels.resource }}: {{ $value | humanize }} callers wait, and the queue hardly moves",
		about: "{{ $value | humanize }} calls of Acquire in {{ $labels.job }} wait for {{ $labels.resource }}. At the " +
			"present pace it takes longer than " + number(t.DrainSeconds) + " s until the last of them has its turn.",
		board: resourceBoard,
	})
}

func (m maker) releases() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockReleaseFailures", severity: warning, hold: fiveMinutes,
		expr: `sum_over_time($FAILED[15m]) * $INTERVAL > $BAD
			and sum_over_time($FAILED[15m]) > $RATIO * sum_over_time($HOLDS[15m])`,
		pairs: []string{"$FAILED", Unreleased, "$HOLDS", Holds, "$INTERVAL", seconds(m.config.Interval),
			"$BAD", atLeast(m.config.SLO.MinBad), "$RATIO", number(m.config.Alerts.ReleaseFailureRatio)},
		summary: "{{ $labels.resource }}: releases fail",
		about: "About {{ $value | humanize }} releases of {{ $labels.resource }} in {{ $labels.job }} found the lease " +
			"gone or could not tell, in the last 15 minutes. The next holder waits for the rest of the TTL, or there was " +
			"one already.",
		board: resourceBoard,
	})
}

// onceAgain is how long a condition of the nodes must last.
const onceAgain = model.Duration(2 * 60 * 1e9)

// overflow is for resources without a name of their own: no other alert of this file can
// tell them apart. A few calls, as of a deployment with two sets of names, are nothing.
func (m maker) overflow() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockResourceOverflow", severity: warning, hold: 2 * fiveMinutes,
		expr:    `sum by ($JOB) (rate(distributed_lock_resource_overflow_total[5m])) > 0`,
		summary: "{{ $labels.job }}: resources are counted as other",
		about: "{{ $labels.job }} makes {{ $value | humanize }} calls of Acquire a second for resources beyond the limit " +
			"of the label. They are counted as other: waits, losses and failures of these are mixed, and alerts cannot " +
			"name them.",
		board: overviewBoard,
	})
}

// deadlocked tells of a cycle that a process closed itself; see stillDeadlocked for those
// that the scanner sees.
func (m maker) deadlocked() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockDeadlock", severity: warning,
		expr:    `clamp_min(round(sum_over_time($DEADLOCKS[15m]) * $INTERVAL > 0), 1)`,
		pairs:   []string{"$DEADLOCKS", Deadlocks, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: calls of {{ $labels.job }} wait for one another",
		about: "About {{ $value | humanize }} calls of Acquire for {{ $labels.resource }} in {{ $labels.job }} closed a " +
			"cycle in the last 15 minutes: each holds what the next one waits for. They end when one of them gives up.",
		board: resourceBoard,
	})
}
