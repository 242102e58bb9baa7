package resources

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Objectives builds expressions about the objectives of resources: whether they are met, and how much of their budgets
// is left. The parameter by is a by clause with a leading space, or empty.
type Objectives struct {
	config.SLO
	deploy.Objectives
	interval model.Duration // of the rules
}

// ObjectivesOf returns the objectives of a configuration.
func ObjectivesOf(c config.Config) Objectives {
	return Objectives{c.SLO, deploy.ShippedObjectives(), c.Interval}
}

// Elections leaves out those of the time shown: a candidate stands by while another process leads, and has no
// objectives.
const Elections = ` unless on ($JOB, resource) last_over_time(distributed_lock_candidates{R}[$__range])`

// queues leaves out resources where queues are expected: they have no objective for waits.
const queues = ` unless on (resource) ` + rules.Queues

// inRange sums a counter over the time shown, plus the acquires that stalled calls prevented: these calls have
// not returned.
func (o Objectives) inRange(counter, by, except string) string {
	return fmt.Sprintf(`sum%s ((increase(%s[$__range]) or sum_over_time(%s{S}[$__range]) * %v)%s)`,
		by, counter, rules.Unserved, time.Duration(o.interval).Seconds(), Elections+except)
}

func (o Objectives) failed(by string) string {
	return o.inRange("distributed_lock_failures_total{R}", by, "") + " / (" + o.Asked(by) + " > 0)"
}

// Asked counts acquires in the time shown.
func (o Objectives) Asked(by string) string {
	return o.inRange("distributed_lock_wait_seconds_count{R}", by, "")
}

// Available is the share of acquires in the time shown that got the lock.
func (o Objectives) Available(by string) string { return "1 - " + o.failed(by) }

// GoodWaits is the share of acquires in the time shown that waited no longer than the objective.
func (o Objectives) GoodWaits(by string) string {
	return fmt.Sprintf(`sum%s (increase(distributed_lock_wait_seconds_bucket{R,%s}[$__range])%s) / (%s > 0)`, by,
		deploy.Bound(o.Within), Elections+queues, o.inRange("distributed_lock_wait_seconds_count{R}", by, queues))
}

// AvailabilityLeft is the share of the error budget of the time shown that is left.
func (o Objectives) AvailabilityLeft(by string) string {
	return fmt.Sprintf("1 - (%s) / (1 - %v)", o.failed(by), o.Availability)
}

// WaitLeft is the share of the wait budget of the time shown that is left.
func (o Objectives) WaitLeft(by string) string {
	return fmt.Sprintf("1 - (1 - %s) / (1 - %v)", o.GoodWaits(by), o.Wait)
}

// AvailabilityLeftOfPeriod is the share of the error budget of the whole period that is left, for each job and
// resource. It uses recorded series: no dashboard reads a month of counters.
func (o Objectives) AvailabilityLeftOfPeriod() string {
	return fmt.Sprintf("1 - %s{S} / (1 - %v)", rules.FailureRatio(o.Period), o.Availability)
}

// WaitLeftOfPeriod is the same for the wait budget.
func (o Objectives) WaitLeftOfPeriod() string {
	return "1 - " + o.WaitBurn(o.Period)
}

// WaitBurn is the share of slow waits in a window, as a multiple of what the budget allows.
func (o Objectives) WaitBurn(window model.Duration) string {
	return fmt.Sprintf("%s{S} / (1 - %v)", rules.SlowRatio(window), o.Wait) + queues
}

// Promise states the objectives in words.
func (o Objectives) Promise() string {
	return fmt.Sprintf("%v %% of the acquires of a resource get the lock, and %v %% wait at most %v s, over %s",
		Percent(o.Availability), Percent(o.Wait), o.Within, o.Period)
}

// Percent writes a share of 1 in percent, without the sign.
func Percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) }

// Burning marks the burn rates at which alerts fire.
func (o Objectives) Burning(p draw.Panel) draw.Panel {
	slowest, fastest := o.factors()
	return p.Marked(draw.Steps(draw.Green, draw.At(slowest, draw.Orange), draw.At(fastest, draw.Red))).Reaching(fastest)
}

// factors returns the lowest and the highest burn rate at which an alert fires.
func (o Objectives) factors() (slowest, fastest float64) {
	slowest = o.Windows[0].Factor
	for _, w := range o.Windows {
		slowest, fastest = min(slowest, w.Factor), max(fastest, w.Factor)
	}
	return slowest, fastest
}
