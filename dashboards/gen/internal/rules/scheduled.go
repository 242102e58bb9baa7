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
		or last_over_time($SELF[1d]) > time() - `+known, "$ACQUIRED", Acquired, "$SELF", LastSuccess))
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

// overdue is about resources with an expected interval.
func (m maker) overdue() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockOverdue", severity: critical, hold: fiveMinutes,
		expr:    `time() - $LAST > on (resource) group_left () 1.5 * max by (resource) ($EXPECTED)`,
		pairs:   []string{"$LAST", LastSuccess, "$EXPECTED", Expected},
		summary: "{{ $labels.resource }}: {{ $labels.job }} last acquired the lock {{ $value | humanizeDuration }} ago",
		about: "{{ $labels.job }} last acquired {{ $labels.resource }} {{ $value | humanizeDuration }} ago, more than " +
			"one and a half times its expected interval. Either the work fails or it does not run at all.",
		board: resourceBoard,
	})
}
