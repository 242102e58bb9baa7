package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

const (
	fiveMinutes = model.Duration(5 * time.Minute)
	anHour      = model.Duration(time.Hour)
	threeHours  = 3 * anHour
	sixHours    = 6 * anHour
	threeDays   = 72 * anHour
)

// quickLimit is the longest window that is added up at every interval; those that
// are longer change slowly.
const quickLimit = 2 * anHour

func (m maker) recordings() []Group {
	windows := m.windows()
	quick := slices.IndexFunc(windows, func(w model.Duration) bool { return w > quickLimit })
	if quick < 0 {
		quick = len(windows)
	}
	days := m.group("distributed-lock-sli-days", append(m.ratios(windows[quick:]), m.scheduled()...))
	days.Interval *= 3
	return []Group{
		m.group("distributed-lock-sli",
			slices.Concat(m.rates(), m.ratios(windows[:quick]), m.quantiles(fiveMinutes, anHour))),
		days,
		m.group("distributed-lock-views", slices.Concat(m.nodeViews(), m.scannerViews())),
	}
}

// windows lists those of the alerts, and the period of the objectives.
func (m maker) windows() []model.Duration {
	all := []model.Duration{m.config.SLO.Period, threeHours, sixHours, threeDays}
	for _, w := range m.config.SLO.Windows {
		all = append(all, w.Long, w.Short)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rates are the only rules that read counters; everything about longer windows is
// added up from them.
func (m maker) rates() []rulefmt.Rule {
	p99 := bucket(floor(deploy.WaitBuckets(), m.config.Alerts.WaitP99Seconds))
	return []rulefmt.Rule{
		m.blind(),
		m.counted(Acquired, "$JOB, resource", `distributed_lock_acquisitions_total{outcome="acquired"}`),
		m.unserved(),
		m.counted(Waits, "$JOB, resource", `distributed_lock_wait_seconds_count`, Unserved),
		m.counted(Failures, "$JOB, resource", `distributed_lock_failures_total`, Unserved),
		m.counted(Buckets, "$JOB, resource, le", `distributed_lock_wait_seconds_bucket`),
		m.record(SlowWaits, `clamp_min($WAITS - sum by ($JOB, resource) ($BUCKETS{$LE}), 0)`,
			"$WAITS", Waits, "$BUCKETS", Buckets, "$LE", bucket(deploy.ShippedObjectives().Within)),
		m.record(AboveLimit, `clamp_min($WAITS - sum by ($JOB, resource) ($BUCKETS{$LE}), 0)`,
			"$WAITS", Waits, "$BUCKETS", Buckets, "$LE", p99),
		m.counted(Lost, "$JOB, resource, reason", `distributed_lock_lost_total`),
		m.counted(Deadlocks, "$JOB, resource", `distributed_lock_deadlocks_total`),
		m.counted(Unreleased, "$JOB, resource", `distributed_lock_release_failures_total`),
		m.counted(Holds, "$JOB, resource", `distributed_lock_hold_seconds_count`),
	}
}

// counted records the rate of a counter, and what a new series has counted before its
// first scrape: a pod of a CronJob lives for a minute, with counters that are born at 1.
// A series is new only if Prometheus has looked before and would have seen it. What else counts
// has no label instance, and so stands beside the series of processes.
func (m maker) counted(name, by, counter string, more ...string) rulefmt.Rule {
	return m.record(name, `sum by ($BY) (
			(
				max_over_time($COUNTER[5m]) unless $COUNTER offset 5m
				unless on ($JOB, instance) $BLIND
				unless on () absent(up offset 5m)
			) / 300
			or rate($COUNTER[5m])
			$MORE
		)`, "$MORE", strings.Join(append([]string{""}, more...), " or "), "$BY", m.fill(by), "$COUNTER", m.expr(counter),
		"$BLIND", Blind)
}

// blind lists processes that were there before without being scraped: they were out of
// reach, or have only now been added to Prometheus.
func (m maker) blind() rulefmt.Rule {
	return m.record(Blind, `count by ($JOB, instance) (
			last_over_time(up[1h] offset 5m) or process_start_time_seconds < time() - 600
		) unless on ($JOB, instance) (up offset 5m == 1)`)
}

// ratios records error ratios per window. Without acquires there is no ratio,
// rather than one that is not a number.
func (m maker) ratios(windows []model.Duration) []rulefmt.Rule {
	var failed, slow, volume []rulefmt.Rule
	for _, w := range windows {
		fill := []string{"$W", w.String(), "$INTERVAL", seconds(m.config.Interval),
			"$WAITS", Waits, "$FAILURES", Failures, "$SLOW", SlowWaits}
		if w <= fiveMinutes {
			failed = append(failed, m.record(FailureRatio(w), `$FAILURES / ($WAITS > 0)`, fill...))
			slow = append(slow, m.record(SlowRatio(w), `$SLOW / ($WAITS > 0)`, fill...))
			continue
		}
		failed = append(failed, m.record(FailureRatio(w),
			`sum_over_time($FAILURES[$W]) / (sum_over_time($WAITS[$W]) > 0)`, fill...))
		slow = append(slow, m.record(SlowRatio(w),
			`sum_over_time($SLOW[$W]) / (sum_over_time($WAITS[$W]) > 0)`, fill...))
		volume = append(volume, m.record(Volume(w), `sum_over_time($WAITS[$W]) * $INTERVAL`, fill...))
	}
	return slices.Concat(failed, slow, slices.DeleteFunc(volume, m.unguarded))
}

// quantiles records how long one wait in a hundred lasts at least.
func (m maker) quantiles(windows ...model.Duration) []rulefmt.Rule {
	var all []rulefmt.Rule
	for _, w := range windows {
		buckets := Buckets
		if w > fiveMinutes {
			buckets = "sum_over_time(" + Buckets + "[" + w.String() + "])"
		}
		all = append(all, m.record(P99(w), `histogram_quantile(0.99, $BUCKETS)`, "$BUCKETS", buckets))
	}
	return all
}

// unguarded reports that no alert asks for this volume: only long windows are guarded.
func (m maker) unguarded(r rulefmt.Rule) bool {
	return !slices.ContainsFunc(m.config.SLO.Windows, func(w config.Window) bool { return r.Record == Volume(w.Long) })
}

// failuresPerCommand is the share of a process's acquire commands on a node that failed. What
// was not sent has no duration, and a node that is dead has nothing else. The series that are
// joined by or have different labels: all of them are added up.
func failuresPerCommand(window string) string {
	return strings.ReplaceAll(`sum by ($JOB, instance, backend, lock_node) (
			rate(distributed_lock_node_failures_total{operation="acquire",reason!="canceled"}[$W])
			or 0 * rate(distributed_lock_node_duration_seconds_count{operation="acquire"}[$W])
		)
		/ (
			sum by ($JOB, instance, backend, lock_node) (
				rate(distributed_lock_node_duration_seconds_count{operation="acquire"}[$W])
				or rate(distributed_lock_node_failures_total{operation="acquire",reason=~"refused|dial|busy|guard"}[$W])
			) > 0
		)`, "$W", window)
}

// nodeViews records what processes see of the nodes. The gauge
// distributed_lock_node_up tells of a process's last command, however long ago that
// was, and is 1 for a node that answers with an error. So a node counts as usable
// by what became of the commands of the last minutes, and a process that sent none
// has no view.
func (m maker) nodeViews() []rulefmt.Rule {
	// Of two minutes, if there were commands: while nobody gets a lock there are few, and five minutes would
	// be of the many before. A process that acquires now and then has the view of its last ones, while it lives.
	const views = `(last_over_time($ERRORS[15m]) and on ($JOB, instance, backend) distributed_lock_nodes) <= bool 0.5`
	return []rulefmt.Rule{
		m.record(NodeErrors, failuresPerCommand("2m")+" or "+failuresPerCommand("5m")),
		m.record(NodeUsable, `avg by ($JOB, backend, lock_node) (`+views+`)`, "$ERRORS", NodeErrors),
		m.record(NodesUsable, `sum by ($JOB, backend) ($USABLE >= bool 0.5)`, "$USABLE", NodeUsable),
		m.record(NodesUsableForEach, `sum by ($JOB, instance, backend) (`+views+`)`, "$ERRORS", NodeErrors),
		m.record(NodeP99, `histogram_quantile(0.99,
			sum by ($JOB, backend, lock_node, le)
			(rate(distributed_lock_node_duration_seconds_bucket{operation="acquire"}[5m])))`),
	}
}
