package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

const (
	aMinute     = model.Duration(time.Minute)
	fiveMinutes = model.Duration(5 * time.Minute)
	anHour      = model.Duration(time.Hour)
	threeHours  = 3 * anHour
	sixHours    = 6 * anHour
	threeDays   = 72 * anHour
)

// quickLimit is the longest window that is evaluated at every interval. Longer windows change slowly.
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

// windows returns the windows of the alerts and the period of the objectives, sorted.
func (m maker) windows() []model.Duration {
	all := []model.Duration{m.config.SLO.Period, threeHours, sixHours, threeDays}
	for _, w := range m.config.SLO.Windows {
		all = append(all, w.Long, w.Short)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rates are the only rules that read counters. Rules about longer windows sum these rates.
func (m maker) rates() []rulefmt.Rule {
	p99 := bucket(floor(deploy.WaitBuckets(), m.config.Alerts.WaitP99Seconds))
	return []rulefmt.Rule{
		m.blind(),
		m.counted(Acquired, "$JOB, resource", `distributed_lock_acquisitions_total{outcome="acquired"}`),
		m.unserved(),
		m.waits(),
		m.record(LongestWait, `max by ($JOB, resource) (
			timestamp(distributed_lock_waiting_since_timestamp_seconds)
			- (distributed_lock_waiting_since_timestamp_seconds > 0)
		)`+noElections),
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
		m.counted(Unprotected, "$JOB, resource", `distributed_lock_unprotected_runs_total`),
	}
}

// counted records the rate of a counter, including what a new series counted before its first scrape:
// the pod of a CronJob lives for a minute, and its counters start at 1. A series is new only if Prometheus
// scraped earlier and would have seen it. The expressions in more have no label instance, so "or" adds them
// to the series of the processes.
func (m maker) counted(name, by, counter string, more ...string) rulefmt.Rule {
	newest, rate := "max_over_time($COUNTER[5m]) unless $COUNTER offset 5m", "rate($COUNTER[5m])"
	if histogram, ok := strings.CutSuffix(counter, "_count"); ok {
		newest = "((" + newest + ") or max_over_time(histogram_count(" + histogram + ")[5m:30s])" + onlyNative(histogram) + ")"
		rate += " or histogram_count(rate(" + histogram + "[5m]))"
	}
	if histogram, ok := strings.CutSuffix(counter, "_bucket"); ok {
		newest = "((" + newest + ") or max_over_time((" + promql.Buckets(histogram, "("+histogram+" unless "+histogram+
			" offset 5m)") + ")[5m:30s])" + onlyNative(histogram) + ")"
		// Not from a recorded histogram: Prometheus 2.42 discards those whose buckets add up to a bit more than their count,
		// which rates do at random.
		rate += " or " + promql.Buckets(histogram, "(rate("+histogram+"[5m]) unless max_over_time("+histogram+"_count[5m]))")
	}
	return rulefmt.Rule{Record: name, Expr: m.expr(strings.NewReplacer("$NEWEST", newest, "$RATE", rate).Replace(`sum by ($BY) (
			(
				$NEWEST
				unless on ($JOB, instance) $BLIND
				unless on () absent(up offset 5m)
			) / 300
			or $RATE
			$MORE
		)`), "$MORE", strings.Join(append([]string{""}, more...), " or "), "$BY", m.fill(by),
		"$COUNTER", m.expr(counter), "$BLIND", Blind)}
}

// onlyNative leaves out what had the histogram in any form five minutes ago, and what has a classic one: that counts.
func onlyNative(histogram string) string {
	return strings.ReplaceAll(` unless ignoring (le)
		($H offset 5m or $H_count offset 5m or max_over_time($H_count[5m]))`, "$H", histogram)
}

func (m maker) waits() rulefmt.Rule {
	r := m.counted(Waits, "$JOB, resource", `distributed_lock_wait_seconds_count`, Unserved)
	r.Expr += m.expr(noElections)
	return r
}

// blind lists processes that ran earlier without being scraped: they were unreachable, or Prometheus
// has only now heard of them.
func (m maker) blind() rulefmt.Rule {
	return m.record(Blind, `count by ($JOB, instance) (
			last_over_time(up[1h] offset 5m) or process_start_time_seconds < time() - 600
		) unless on ($JOB, instance) (up offset 5m == 1)`)
}

// ratios records error ratios per window. Without acquires the series is absent, not NaN.
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

// quantiles records the p99 of waits.
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

// unguarded reports whether no alert reads this volume: alerts check only the volume of long windows.
func (m maker) unguarded(r rulefmt.Rule) bool {
	return !slices.ContainsFunc(m.config.SLO.Windows, func(w config.Window) bool { return r.Record == Volume(w.Long) })
}

// failuresPerCommand is the share of a process's acquire commands on a node that failed. Commands that were
// not sent have no duration, and a dead node has only such commands. The two sides of each "or" have different
// labels, so the sum includes both.
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

// usable records how the processes see the nodes. The gauge distributed_lock_node_up does not serve: it is 1 for
// a node that answers with an error, or until five commands in a row failed, and absent after two minutes without a
// command. Here a node is usable if the commands of the last minutes succeeded. A process that sent none has no view.
func (m maker) usable() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.record(NodeErrors, failuresPerCommand("2m")+" or "+failuresPerCommand("5m")),
		m.usableForEach(),
		m.record(NodeUsable, `avg by ($JOB, backend, lock_node) ($EACH)`, "$EACH", NodeUsableForEach),
		m.record(NodesUsable, `sum by ($JOB, backend) ($USABLE >= bool 0.5)`, "$USABLE", NodeUsable),
	}
}

// usableForEach records 1 for each node that a process can use and 0 for each that it cannot. NodeErrors covers two
// minutes if they contain commands. While nobody gets a lock there are few commands, and five minutes would mostly
// contain those of before. A process that acquires rarely keeps the view of its latest commands while it runs and
// reports whether it can use the node: a gauge that is gone after a quiet time says that it does not know.
//
// A process whose calls are stalled has no use for an average of the last minutes: a node whose last command failed
// is not usable now. Failures of the last minutes show that the gauge is not an old one of nodes that nobody asks.
func (m maker) usableForEach() rulefmt.Rule {
	return m.record(NodeUsableForEach, `min by ($JOB, instance, backend, lock_node) (
			distributed_lock_node_usable == 0
			and on ($JOB, instance) $STALLED
			and on ($JOB, instance, backend, lock_node) sum by ($JOB, instance, backend, lock_node) (
				increase(distributed_lock_node_failures_total{operation="acquire",reason!="canceled"}[2m])
			) > 0
		)
		or (
			last_over_time($ERRORS[15m]) and on ($JOB, instance, backend) distributed_lock_nodes
			unless on ($JOB, instance, backend, lock_node) (
				last_over_time(distributed_lock_node_usable[30m]) unless distributed_lock_node_usable
			)
		) <= bool 0.5`,
		"$ERRORS", NodeErrors, "$STALLED", Stalled)
}

// nodeViews records the series that count and rate nodes; those of a lost quorum are elsewhere.
func (m maker) nodeViews() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.record(NodesUsableForEach, `sum by ($JOB, instance, backend) ($EACH)`, "$EACH", NodeUsableForEach),
		m.record(NodeP99, `histogram_quantile(0.99,
			sum by ($JOB, backend, lock_node, le)
			(rate(distributed_lock_node_duration_seconds_bucket{operation="acquire"}[5m])))`),
	}
}
