package rules

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// scheduled records what alerts need about jobs that run once an hour or a day: their processes and
// series are gone long before the next run starts.
func (m maker) scheduled() []rulefmt.Rule {
	all := m.quantiles(sixHours)
	for _, w := range []model.Duration{threeHours, sixHours, threeDays} {
		all = append(all, m.record(FailingMinutes(w), `count_over_time(($FAILURES > 0)[$W:1m])`, "$FAILURES", Failures,
			"$W", w.String()))
	}
	return append(all, m.record(LastSuccess, `time() + 0 * (max_over_time($ACQUIRED[5m]) > 0)
		or last_over_time($SELF[1d]) > time() - `+known, "$ACQUIRED", Acquired, "$SELF", LastSuccess),
		m.record(Silence, `time() - $LAST`, "$LAST", LastSuccess), m.usualInterval(), m.record(KnownInterval,
			`$USUAL or (last_over_time($SELF[6h]) and $SILENCE < 259200)`, "$USUAL", UsualInterval, "$SELF", KnownInterval,
			"$SILENCE", Silence))
}

// failingMinutes is the number of failing minutes of three failures five minutes apart: each failure shows
// in the rates of at least four minutes. Three failures within three minutes give fewer.
const failingMinutes = "12"

// everyAcquireFails looks back three hours for hourly work, and six hours and three days for rarer work.
// The short window fires before the last success of hourly work is six hours old.
func (m maker) everyAcquireFails() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockEveryAcquireFails", severity: critical, hold: onceAgain,
		expr: `$RATIO_3H > 0.999 and $MINUTES_3H >= $ENOUGH
			or ($RATIO_6H > 0.999 and $MINUTES_6H >= $ENOUGH)
			or ($RATIO_3D > 0.999 and $MINUTES_3D >= $ENOUGH)`,
		pairs: []string{"$RATIO_3H", FailureRatio(threeHours), "$MINUTES_3H", FailingMinutes(threeHours),
			"$RATIO_6H", FailureRatio(sixHours), "$MINUTES_6H", FailingMinutes(sixHours),
			"$RATIO_3D", FailureRatio(threeDays), "$MINUTES_3D", FailingMinutes(threeDays), "$ENOUGH", failingMinutes},
		summary: "{{ $labels.resource }}: no process of {{ $labels.job }} gets the lock",
		about: "Every acquire of {{ $labels.resource }} by {{ $labels.job }} in the last three hours, six hours or three " +
			"days failed: at least three, minutes apart. The work that needs this lock has not been done since.",
		board: resourceBoard,
	})
}

// overdue is about resources with an expected interval. Jobs may share a lock, and one of them always win: of the jobs of a
// cluster only the last to acquire it is judged.
func (m maker) overdue() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockOverdue", severity: critical, hold: fiveMinutes,
		expr: `time() - ($LAST == on ($CLUSTER resource) group_left () max by ($CLUSTER resource) ($LAST))
			> on (resource) group_left () 1.5 * max by (resource) ($EXPECTED)`,
		pairs:   []string{"$LAST", LastSuccess, "$EXPECTED", Expected},
		summary: "{{ $labels.resource }}: {{ $labels.job }} last acquired the lock {{ $value | humanizeDuration }} ago",
		about: "{{ $labels.job }} last acquired {{ $labels.resource }} {{ $value | humanizeDuration }} ago, more than " +
			"one and a half times its expected interval, and no other job has since. Either the work fails or it does not run " +
			"at all.",
		board: resourceBoard,
	})
}

// usualInterval records, at each success, the mean interval of the day before it, or the longest silence of that day if
// that was longer: by the mean alone, a busy lock would be overdue in its quiet hours. It needs a day of history.
// Nothing is recorded during a silence, which would lengthen the interval that it is measured by.
func (m maker) usualInterval() rulefmt.Rule {
	return m.record(UsualInterval, `max by ($JOB, resource) (
			label_replace(86400 / (sum_over_time($ACQUIRED[1d]) * $INTERVAL), "of", "mean", "", "")
			or max_over_time($SILENCE[1d])
		) and $SILENCE == 0 and $SILENCE offset 1d`,
		"$SILENCE", Silence, "$ACQUIRED", Acquired, "$INTERVAL", seconds(m.config.Interval))
}

// silent is about resources without an expected interval. A usual interval below a tenth of a day has no quiet night
// in it, so work that rests at night is never judged. The weekend is compared with the last one, two hours more or
// less: people do not stop on the minute. The alert ends three days after the last success, since the resource may
// have been removed or renamed. Until then it lasts over a weekend.
func (m maker) silent() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockSilent", severity: warning, hold: 2 * fiveMinutes,
		expr: `$SILENCE > 3 * ($KNOWN < 8640)
			unless 2 * max_over_time($SILENCE[4h] offset 166h) > $SILENCE
			unless on (resource) $EXPECTED`,
		pairs: []string{"$SILENCE", Silence, "$KNOWN", KnownInterval, "$EXPECTED", Expected},
		summary: "{{ $labels.resource }}: {{ $labels.job }} last acquired the lock {{ $value | humanizeDuration }} ago, " +
			"and did so regularly before",
		about: "{{ $labels.job }} last acquired {{ $labels.resource }} {{ $value | humanizeDuration }} ago: more than three " +
			"of its usual intervals. The configuration states no interval: the rule learned it from the day before. Either the work " +
			"stopped, or the resource was renamed or removed.",
		board: resourceBoard,
	})
}
