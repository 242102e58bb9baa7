package boards

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// objectives builds expressions about objectives. The parameter by is a by clause or empty.
type objectives struct {
	config.SLO
	deploy.Objectives
	interval model.Duration // of the rules
}

func objectivesOf(c config.Config) objectives {
	return objectives{c.SLO, deploy.ShippedObjectives(), c.Interval}
}

// inRange sums a counter over the time shown, plus the acquires that stalled calls prevented: these calls have
// not returned.
func (o objectives) inRange(counter, by string) string {
	return fmt.Sprintf(`sum%s (increase(%s[$__range]) or sum_over_time(%s{S}[$__range]) * %v)`,
		by, counter, rules.Unserved, time.Duration(o.interval).Seconds())
}

func (o objectives) failed(by string) string {
	return o.inRange("distributed_lock_failures_total{R}", by) + " / (" + o.asked(by) + " > 0)"
}

func (o objectives) asked(by string) string {
	return o.inRange("distributed_lock_wait_seconds_count{R}", by)
}

func (o objectives) availability(by string) string { return "1 - " + o.failed(by) }

func (o objectives) goodWaits(by string) string {
	return fmt.Sprintf(`sum%s (increase(distributed_lock_wait_seconds_bucket{R,%s}[$__range])) / (%s > 0)`, by,
		deploy.Bound(o.Within), o.asked(by))
}

func (o objectives) availabilityLeft(by string) string {
	return fmt.Sprintf("1 - (%s) / (1 - %v)", o.failed(by), o.Availability)
}

func (o objectives) waitLeft(by string) string {
	return fmt.Sprintf("1 - (1 - %s) / (1 - %v)", o.goodWaits(by), o.Wait)
}

// availabilityLeftOfPeriod and waitLeftOfPeriod use recorded series: no dashboard reads a month of counters.
func (o objectives) availabilityLeftOfPeriod() string {
	return fmt.Sprintf("1 - %s{S} / (1 - %v)", rules.FailureRatio(o.Period), o.Availability)
}

func (o objectives) waitLeftOfPeriod() string {
	return fmt.Sprintf("1 - %s{S} / (1 - %v)", rules.SlowRatio(o.Period), o.Wait)
}

// promise states the objectives in words.
func (o objectives) promise() string {
	return fmt.Sprintf("%v %% of the acquires of a resource get the lock, and %v %% wait at most %v s, over %s",
		percent(o.Availability), percent(o.Wait), o.Within, o.Period)
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) }

// burning marks the burn rates at which alerts fire.
func (o objectives) burning(p panel) panel {
	slowest, fastest := o.factors()
	return p.Marked(steps(green, at(slowest, orange), at(fastest, red))).Reaching(fastest)
}

// factors returns the lowest and the highest burn rate at which an alert fires.
func (o objectives) factors() (slowest, fastest float64) {
	slowest = o.Windows[0].Factor
	for _, w := range o.Windows {
		slowest, fastest = min(slowest, w.Factor), max(fastest, w.Factor)
	}
	return slowest, fastest
}
