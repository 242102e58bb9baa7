package rules

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func (m maker) resources() []rulefmt.Rule {
	return []rulefmt.Rule{m.waitP99(), m.everyAcquireFails(), m.overdue(), m.silent(), m.unprotected(), m.maxHold(),
		m.retryStorm(), m.pilingUp(), m.longWait(), m.semaphoreFull(), m.writerStarved(), m.releases(), m.overflow(), m.deadlocked()}
}

// atLeast returns a bound for a count of n. Counts are sums of rates, so they are not whole numbers.
func atLeast(n int) string { return number(float64(n) - 0.5) }

// waitP99 looks back until it sees ten acquires: five minutes, an hour or six hours. It counts slow waits
// from the bucket below the limit. A window of hours still holds waits of long ago, so slow waits must
// occur in its latest part as well.
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
		summary: "{{ $labels.resource }}: one acquire in a hundred waits longer than " + limit + " s",
		about: "The p99 wait for {{ $labels.resource }} in {{ $labels.job }} is {{ $value | humanizeDuration " +
			"}}, above " + limit + " s. It covers the last five minutes, " +
			"or one or six hours if there were fewer than ten acquires. Slow acquires continue, or ended less " +
			"than an hour ago.",
		board: resourceBoard,
	})
}

// lost excludes leases that ended at their MaxHold, as configured: see maxHold. The first evaluation
// after a loss sees a fraction of one loss, which counts as one. The counter itself shows a loss a minute before
// the recorded rates do. Only the rates include a series that is new.
func (m maker) lost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockLost", severity: critical,
		expr: `clamp_min(round(sum_over_time($LOST{reason!="max_hold"}[15m]) * $INTERVAL > 0), 1)
			or round(sum by ($JOB, resource, reason)
				(increase(distributed_lock_lost_total{reason!="max_hold"}[2m])) > 0)`,
		pairs:   []string{"$LOST", Lost, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: a lease was lost in use ({{ $labels.reason }})",
		about: "{{ $labels.job }} lost about {{ $value | humanize }} leases of {{ $labels.resource }} in the last 15 " +
			"minutes (reason {{ $labels.reason }}). Work that ignores its context and its fencing token may have " +
			"overlapped with another holder's.",
		board: resourceBoard,
	})
}

// unprotected looks back fifteen minutes: a rate of five minutes shows a run for that long.
func (m maker) unprotected() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockUnprotectedRuns", severity: warning,
		expr: `sum_over_time($RUNS[10m]) > 0`, pairs: []string{"$RUNS", Unprotected},
		summary: "{{ $labels.resource }}: {{ $labels.job }} ran without the lock",
		about: "{{ $labels.job }} ran the work of {{ $labels.resource }} without its lock in the last 15 minutes, because too " +
			"few nodes could be reached, as its code allows. Two processes may have run it at once.",
		board: resourceBoard,
	})
}

func (m maker) maxHold() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockMaxHoldReached", severity: warning,
		expr: `clamp_min(round(sum by ($JOB, resource) (sum_over_time($LOST{reason="max_hold"}[15m])) * $INTERVAL > 0),
			1)`,
		pairs:   []string{"$LOST", Lost, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: a lease reached its MaxHold",
		about: "About {{ $value | humanize }} leases of {{ $labels.resource }} in {{ $labels.job }} reached their MaxHold " +
			"in the last 15 minutes, so their renewal stopped. Either the work takes too long or nobody releases the lease.",
		board: resourceBoard,
	})
}

// retryStorm compares attempts with acquires without dividing: in the worst storm no acquire ends.
func (m maker) retryStorm() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockRetryStorm", severity: warning, hold: 2 * fiveMinutes,
		expr: `sum by ($JOB, resource) (rate(distributed_lock_attempts_total[5m])) > $RATE
			and sum by ($JOB, resource) (rate(distributed_lock_attempts_total[5m])) > $FACTOR * $WAITS`,
		pairs: []string{"$RATE", number(t.AttemptsPerSecond), "$FACTOR", number(t.AttemptsPerAcquire), "$WAITS",
			Waits},
		summary: "{{ $labels.resource }}: more than " + number(t.AttemptsPerAcquire) + " attempts per acquire",
		about: "{{ $labels.job }} makes {{ $value | humanize }} attempts a second at {{ $labels.resource }}, " +
			"more than " + number(t.AttemptsPerAcquire) +
			" per finished acquire. These attempts load every node and rarely win.",
		board: resourceBoard,
	})
}

// pilingUp judges a queue by the time it takes to drain at the present rate: a hundred
// waiters are harmless if a thousand are served a second.
func (m maker) pilingUp() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockWaitersPilingUp", severity: warning, hold: fiveMinutes,
		expr: `sum by ($JOB, resource) (distributed_lock_waiting) >= $WAITERS
			and sum by ($JOB, resource) (distributed_lock_waiting) > $DRAIN * $ACQUIRED
			unless on (resource) $QUEUES` + noElections,
		pairs: []string{"$WAITERS", number(t.Waiters), "$DRAIN", number(t.DrainSeconds), "$ACQUIRED", Acquired,
			"$QUEUES", Queues},
		summary: "{{ $labels.resource }}: {{ $value | humanize }} callers wait, and the queue hardly moves",
		about: "{{ $value | humanize }} calls of Acquire in {{ $labels.job }} wait for {{ $labels.resource }}. At the " +
			"present rate the queue takes longer than " + number(t.DrainSeconds) + " s to drain.",
		board: resourceBoard,
	})
}

// longWait is about one call, however few callers there are. It names the holder that cost most of the last five minutes.
func (m maker) longWait() rulefmt.Rule {
	limit := m.config.Alerts.LongWait
	const long = `($LONGEST >= $LIMIT unless on (resource) $QUEUES unless on ($JOB, resource) $STALLED)`
	return m.alert(alert{
		name: "DistributedLockLongWait", severity: warning,
		expr: long + ` * on ($JOB, resource) group_left (holder) topk by ($JOB, resource) (1,
				sum by ($JOB, resource, holder) (increase(distributed_lock_inflicted_wait_seconds_total[5m])) > 0
			) ^ 0
			or on ($JOB, resource) ` + long,
		pairs: []string{"$LONGEST", LongestWait, "$LIMIT", seconds(limit), "$QUEUES", Queues, "$STALLED", Stalled},
		summary: "{{ $labels.resource }}: a call in {{ $labels.job }} has waited {{ $value | humanizeDuration }}" +
			"{{ with $labels.holder }}, held by {{ . }}{{ end }}",
		about: "A call of Acquire in {{ $labels.job }} has waited {{ $value | humanizeDuration }} for {{ $labels.resource }}" +
			"{{ with $labels.holder }}, in the last five minutes mostly behind {{ . }}{{ end }}. The holder is stuck, or the " +
			"lock leaked, or callers wait for one another.",
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
		about: "About {{ $value | humanize }} releases of {{ $labels.resource }} in {{ $labels.job }} failed in the last " +
			"15 minutes: the lease was already gone, or the nodes did not confirm the release. The next holder waits " +
			"for the rest of the TTL, or has already overlapped.",
		board: resourceBoard,
	})
}

// onceAgain is how long a node condition must last before it fires.
const onceAgain = model.Duration(2 * 60 * 1e9)

// overflow is about resources that share the label value other: no other alert here can tell them apart.
// It tolerates a few calls, as when a deployment briefly runs with two sets of names.
func (m maker) overflow() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockResourceOverflow", severity: warning, hold: 2 * fiveMinutes,
		expr:    `sum by ($JOB) (rate(distributed_lock_resource_overflow_total[5m])) > 0`,
		summary: "{{ $labels.job }}: resources beyond the label limit are counted as other",
		about: "{{ $labels.job }} makes {{ $value | humanize }} calls of Acquire a second for resources beyond the limit " +
			"of the label. Their waits, losses and failures are all counted as other, so alerts cannot name the resource.",
		board: resourcesBoard,
	})
}

// deadlocked is about a cycle within one process; stillDeadlocked is about those that the scanner sees.
func (m maker) deadlocked() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockDeadlock", severity: warning,
		expr:    `clamp_min(round(sum_over_time($DEADLOCKS[15m]) * $INTERVAL > 0), 1)`,
		pairs:   []string{"$DEADLOCKS", Deadlocks, "$INTERVAL", seconds(m.config.Interval)},
		summary: "{{ $labels.resource }}: calls in {{ $labels.job }} are deadlocked",
		about: "About {{ $value | humanize }} calls of Acquire for {{ $labels.resource }} in {{ $labels.job }} closed a " +
			"cycle in the last 15 minutes: each caller holds the lock that the next one waits for. A cycle lasts until one " +
			"caller gives up.",
		board: resourceBoard,
	})
}
