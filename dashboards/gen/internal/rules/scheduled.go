package rules

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// scheduled records what alerts about jobs need that run once an hour or a day: their
// processes are gone, and their series with them, long before the next one starts.
func (m maker) scheduled() []rulefmt.Rule {
	all := m.quantiles(sixHours)
	for _, w := range []model.Duration{threeHours, sixHours, threeDays} {
		all = append(all, m.record(FailingMinutes(w), `count_over_time(($FAILURES > 0)[$W:1m])`, "$FAILURES", Failures,
			"$W", w.String()))
	}
	return append(all, m.record(LastSuccess, `time() + 0 * (max_over_time($ACQUIRED[5m]) > 0)
		or last_over_time($SELF[1d]) > time() - `+known, "$ACQUIRED", Acquired, "$SELF", LastSuccess))
}

// failingMinutes is what three failures amount to that are five minutes apart: each is
// seen in the rates of four minutes at least. Three within three minutes are fewer.
const failingMinutes = "12"

// everyAcquireFails looks back for three hours, so that work of every hour need not wait for its last
// success to be six hours old, and for longer, for work of every other hour and of every day.
func (m maker) everyAcquireFails() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockEveryAcquireFails", severity: critical, hold: onceAgain,
		expr: `$RATIO_3H > 0.999 and $MINUTES_3H >= $ENOUGH
			or ($RATIO_6H > 0.999 and $MINUTES_6H >= $ENOUGH)
			or ($RATIO_3D > 0.999 and $MINUTES_3D >= $ENOUGH)`,
		pairs: []string{"$RATIO_3H", FailureRatio(threeHours), "$MINUTES_3H", FailingMinutes(threeHours),
			"$RATIO_6H", FailureRatio(sixHours), "$MINUTES_6H", FailingMinutes(sixHours),
			"$RATIO_3D", FailureRatio(threeDays), "$MINUTES_3D", FailingMinutes(threeDays), "$ENOUGH", failingMinutes},
		summary: "{{ $labels.resource }}: nobody of {{ $labels.job }} gets the lock any more",
		about: "All acquires of {{ $labels.resource }} by {{ $labels.job }} in the last three hours, six hours or three " +
			"days have failed, three or more that were minutes apart: " +
			"work that is done once in a while has not been done since.",
		board: resourceBoard,
	})
}

// overdue is for resources with an expected interval.
func (m maker) overdue() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockOverdue", severity: critical, hold: fiveMinutes,
		expr:    `time() - $LAST > on (resource) group_left () 1.5 * max by (resource) ($EXPECTED)`,
		pairs:   []string{"$LAST", LastSuccess, "$EXPECTED", Expected},
		summary: "{{ $labels.resource }}: {{ $labels.job }} last got the lock {{ $value | humanizeDuration }} ago",
		about: "{{ $labels.job }} last got {{ $labels.resource }} {{ $value | humanizeDuration }} ago, more than one and " +
			"a half times the interval it is expected in: it fails, or does not run at all.",
		board: resourceBoard,
	})
}
