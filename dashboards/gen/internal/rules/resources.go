package rules

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func (m maker) resources() []rulefmt.Rule {
	return []rulefmt.Rule{m.waitP99(), m.lost(), m.maxHold(), m.retryStorm(), m.pilingUp(), m.releases(), m.overflow()}
}

// enough is the volume guard of alerts about the last five minutes.
const enough = ` and $WAITS * 300 >= $ACQUIRES`

func (m maker) waitP99() rulefmt.Rule {
	limit := number(m.config.Alerts.WaitP99Seconds)
	return m.alert(alert{
		name: "DistributedLockWaitP99High", severity: warning, hold: 2 * fiveMinutes,
		expr:    `$P99 > $LIMIT` + enough,
		pairs:   []string{"$P99", WaitP99, "$LIMIT", limit, "$WAITS", Waits, "$ACQUIRES", number(float64(m.config.SLO.MinAcquires))},
		summary: "{{ $labels.resource }}: one acquire in a hundred waits for longer than " + limit + " s",
		about:   "The p99 of waiting for {{ $labels.resource }} in {{ $labels.job }} has been above " + limit + " s for ten minutes and is {{ $value | humanizeDuration }} now.",
		board:   resourceBoard,
	})
}

// A lease that reached its MaxHold ended as configured: see maxHold.
func (m maker) lost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockLost", severity: critical,
		expr:    `sum by ($JOB, resource, reason) (increase(distributed_lock_lost_total{&,reason!="max_hold"}[15m])) > 0`,
		summary: "{{ $labels.resource }}: a lease was lost while it was in use ({{ $labels.reason }})",
		about:   "{{ $labels.job }} lost about {{ $value | humanize }} leases of {{ $labels.resource }} in the last 15 minutes: {{ $labels.reason }}. Work that does not heed its context or its fencing token may have run beside another holder's.",
		board:   resourceBoard,
	})
}

func (m maker) maxHold() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockMaxHoldReached", severity: warning,
		expr:    `sum by ($JOB, resource) (increase(distributed_lock_lost_total{&,reason="max_hold"}[15m])) > 0`,
		summary: "{{ $labels.resource }}: a lease was held until its MaxHold",
		about:   "About {{ $value | humanize }} leases of {{ $labels.resource }} in {{ $labels.job }} reached their MaxHold in the last 15 minutes and were no longer renewed: work that takes too long, or a lease that nobody releases.",
		board:   resourceBoard,
	})
}

// The number of attempts is compared with that of acquires without dividing: in the
// worst storm no acquire ends at all.
func (m maker) retryStorm() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockRetryStorm", severity: warning, hold: 2 * fiveMinutes,
		expr: `sum by ($JOB, resource) (rate(distributed_lock_attempts_total{&}[5m])) > $RATE
			and sum by ($JOB, resource) (rate(distributed_lock_attempts_total{&}[5m])) > $FACTOR * $WAITS`,
		pairs:   []string{"$RATE", number(t.AttemptsPerSecond), "$FACTOR", number(t.AttemptsPerAcquire), "$WAITS", Waits},
		summary: "{{ $labels.resource }}: more than " + number(t.AttemptsPerAcquire) + " attempts for every acquire",
		about:   "{{ $labels.job }} makes {{ $value | humanize }} attempts a second at {{ $labels.resource }}, more than " + number(t.AttemptsPerAcquire) + " for every acquire that ends. They load every node and rarely win.",
		board:   resourceBoard,
	})
}

// A queue is judged by how long it takes to empty at the present pace: a hundred
// waiters are nothing if a thousand are served a second.
func (m maker) pilingUp() rulefmt.Rule {
	t := m.config.Alerts
	return m.alert(alert{
		name: "DistributedLockWaitersPilingUp", severity: warning, hold: fiveMinutes,
		expr: `sum by ($JOB, resource) (distributed_lock_waiting{&}) >= $WAITERS
			and sum by ($JOB, resource) (distributed_lock_waiting{&})
				> $DRAIN * sum by ($JOB, resource) (rate(distributed_lock_acquisitions_total{&,outcome="acquired"}[5m]))`,
		pairs:   []string{"$WAITERS", number(t.Waiters), "$DRAIN", number(t.DrainSeconds)},
		summary: "{{ $labels.resource }}: {{ $value | humanize }} callers wait, and the queue hardly moves",
		about:   "{{ $value | humanize }} calls of Acquire in {{ $labels.job }} wait for {{ $labels.resource }}. At the present pace it takes longer than " + number(t.DrainSeconds) + " s until the last of them has its turn.",
		board:   resourceBoard,
	})
}

func (m maker) releases() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockReleaseFailures", severity: warning, hold: fiveMinutes,
		expr: `sum by ($JOB, resource) (increase(distributed_lock_release_failures_total{&}[15m])) >= $BAD
			and sum by ($JOB, resource) (increase(distributed_lock_release_failures_total{&}[15m]))
				> $RATIO * sum by ($JOB, resource) (increase(distributed_lock_hold_seconds_count{&}[15m]))`,
		pairs:   []string{"$BAD", number(float64(m.config.SLO.MinBad)), "$RATIO", number(m.config.Alerts.ReleaseFailureRatio)},
		summary: "{{ $labels.resource }}: releases fail",
		about:   "About {{ $value | humanize }} releases of {{ $labels.resource }} in {{ $labels.job }} found the lease gone or could not tell, in the last 15 minutes. The next holder waits for the rest of the TTL, or there was one already.",
		board:   resourceBoard,
	})
}

// onceAgain is how long a condition of the nodes must last.
const onceAgain = model.Duration(2 * 60 * 1e9)

// overflow is for resources without a name of their own: no other alert of this file can
// tell them apart. A few calls, as of a deployment with two sets of names, are nothing.
func (m maker) overflow() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockResourceOverflow", severity: warning, hold: 2 * fiveMinutes,
		expr:    `sum by ($JOB) (rate(distributed_lock_resource_overflow_total{&}[5m])) > 0`,
		summary: "{{ $labels.job }}: resources are counted as other",
		about:   "{{ $labels.job }} makes {{ $value | humanize }} calls of Acquire a second for resources beyond the limit of the label. They are counted as other: waits, losses and failures of these are mixed, and alerts cannot name them.",
		board:   overviewBoard,
	})
}
