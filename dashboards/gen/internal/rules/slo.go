package rules

import (
	"fmt"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// objective is what the alerts of one objective need.
type objective struct {
	alert, label string
	target       float64
	ratio        func(window model.Duration) string
	what         string // verb phrase after "2 % of the acquires"
	except       string // PromQL that excludes resources from this objective
}

func (m maker) burns() []rulefmt.Rule {
	slo, shipped := m.config.SLO, deploy.ShippedObjectives()
	objectives := []objective{
		{alert: "DistributedLockAcquireErrorBudgetBurn", label: "availability", target: shipped.Availability,
			ratio: FailureRatio, what: "failed"},
		{alert: "DistributedLockWaitErrorBudgetBurn", label: "wait", target: shipped.Wait,
			ratio: SlowRatio, except: " unless on (resource) " + Queues,
			what: "waited for longer than " + number(shipped.Within) + " s"},
	}
	var all []rulefmt.Rule
	for _, o := range objectives {
		for _, w := range slo.Windows {
			all = append(all, m.burn(o, w))
		}
	}
	return all
}

// burn requires MinBad bad acquires in the window as well as MinAcquires: among few acquires, a single
// failure is already a high ratio.
func (m maker) burn(o objective, w config.Window) rulefmt.Rule {
	slo := m.config.SLO
	budget := number(round(1 - o.target))
	return m.alert(alert{
		name: o.alert, severity: w.Severity, hold: w.For,
		labels: map[string]string{"slo": o.label, "long_window": w.Long.String(), "short_window": w.Short.String()},
		expr: `$LONG > $FACTOR * $BUDGET
			and $SHORT > $FACTOR * $BUDGET
			and $VOLUME > $ACQUIRES
			and $LONG * $VOLUME > $BAD` + o.except,
		pairs: []string{"$LONG", o.ratio(w.Long), "$SHORT", o.ratio(w.Short), "$VOLUME", Volume(w.Long),
			"$FACTOR", number(w.Factor), "$BUDGET", budget,
			"$ACQUIRES", atLeast(slo.MinAcquires), "$BAD", atLeast(w.MinBad)},
		summary: fmt.Sprintf(
			"{{ $labels.resource }}: the burn rate of the %s budget is above %s",
			o.label, number(w.Factor)),
		about: fmt.Sprintf(
			"{{ $value | humanizePercentage }} of the acquires of {{ $labels.resource }} by {{ $labels.job "+
				"}} %s in the last %s, and the share is still too high. "+
				"The objective allows %s %%. At this rate the budget of %s is gone in %s.",
			o.what, w.Long, number(round(100*(1-o.target))), slo.Period, lasts(slo.Period, w.Factor)),
		board: resourceBoard,
	})
}

// lasts returns how long a budget lasts at a burn rate of factor.
func lasts(period model.Duration, factor float64) string {
	if factor <= 1 {
		return period.String() + " or less"
	}
	return fmt.Sprintf("less than %.0f hours", float64(period)/factor/3.6e12)
}

// round removes the floating-point error of 1 - 0.999.
func round(v float64) float64 {
	const digits = 1e9
	return float64(int64(v*digits+0.5)) / digits
}
