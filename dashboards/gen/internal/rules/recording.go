package rules

import (
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

const fiveMinutes = model.Duration(5 * time.Minute)

// rawLimit is the longest window that is read from the counters themselves. A
// longer one is added up from recorded rates: days of raw samples of every
// process would be read at every evaluation otherwise.
const rawLimit = model.Duration(2 * time.Hour)

func (m maker) recordings() []Group {
	windows := m.windows()
	raw := slices.IndexFunc(windows, func(w model.Duration) bool { return w > rawLimit })
	if raw < 0 {
		raw = len(windows)
	}
	slow := m.group("distributed-lock-sli-days", m.ratios(windows[raw:]))
	slow.Interval *= 3
	return []Group{
		m.group("distributed-lock-sli", append(m.rates(), m.ratios(windows[:raw])...)),
		slow,
		m.group("distributed-lock-views", append(m.nodeViews(), m.findings())),
	}
}

// windows lists those of the alerts, and the period of the objectives.
func (m maker) windows() []model.Duration {
	all := []model.Duration{m.config.SLO.Period}
	for _, w := range m.config.SLO.Windows {
		all = append(all, w.Long, w.Short)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (m maker) rates() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.record(Waits, `sum by (job, resource) (rate(distributed_lock_wait_seconds_count{&}[5m]))`),
		m.record(Failures, `sum by (job, resource) (rate(distributed_lock_failures_total{&}[5m]))`),
		m.record(SlowWaits, `clamp_min(
			sum by (job, resource) (rate(distributed_lock_wait_seconds_count{&}[5m]))
			- sum by (job, resource) (rate(distributed_lock_wait_seconds_bucket{&,$LE}[5m])), 0)`, "$LE", m.config.SLO.Within()),
		m.record(WaitP99, `histogram_quantile(0.99,
			sum by (job, resource, le) (rate(distributed_lock_wait_seconds_bucket{&}[5m])))`),
	}
}

// ratios records error ratios per window. Without acquires there is no ratio,
// rather than one that is not a number.
func (m maker) ratios(windows []model.Duration) []rulefmt.Rule {
	var failed, slow, volume []rulefmt.Rule
	for _, w := range windows {
		fill := []string{"$W", w.String(), "$LE", m.config.SLO.Within(), "$INTERVAL", seconds(m.config.Interval),
			"$WAITS", Waits, "$FAILURES", Failures, "$SLOW", SlowWaits}
		if w <= rawLimit {
			failed = append(failed, m.record(FailureRatio(w), `
				sum by (job, resource) (rate(distributed_lock_failures_total{&}[$W]))
				/ (sum by (job, resource) (rate(distributed_lock_wait_seconds_count{&}[$W])) > 0)`, fill...))
			slow = append(slow, m.record(SlowRatio(w), `clamp_min(1 -
				sum by (job, resource) (rate(distributed_lock_wait_seconds_bucket{&,$LE}[$W]))
				/ (sum by (job, resource) (rate(distributed_lock_wait_seconds_count{&}[$W])) > 0), 0)`, fill...))
			volume = append(volume, m.record(Volume(w),
				`sum by (job, resource) (increase(distributed_lock_wait_seconds_count{&}[$W]))`, fill...))
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

// unguarded reports that no alert asks for this volume: only long windows are guarded.
func (m maker) unguarded(r rulefmt.Rule) bool {
	return !slices.ContainsFunc(m.config.SLO.Windows, func(w config.Window) bool { return r.Record == Volume(w.Long) })
}

// nodeViews records what processes see of the nodes. The gauge
// distributed_lock_node_up tells of a process's last command, however long ago that
// was, and is 1 for a node that answers with an error. So a node counts as usable
// by what became of the commands of the last minutes, and a process that sent none
// has no view.
func (m maker) nodeViews() []rulefmt.Rule {
	return []rulefmt.Rule{
		// What busy and guard kept from being sent has no duration. The series that are
		// joined by or have different labels: all of them are added up.
		m.record(NodeErrors, `
			sum by (job, instance, backend, lock_node) (
				rate(distributed_lock_node_failures_total{&,operation="acquire",reason!="canceled"}[5m])
				or 0 * rate(distributed_lock_node_duration_seconds_count{&,operation="acquire"}[5m])
			)
			/ (
				sum by (job, instance, backend, lock_node) (
					rate(distributed_lock_node_duration_seconds_count{&,operation="acquire"}[5m])
					or rate(distributed_lock_node_failures_total{&,operation="acquire",reason=~"busy|guard"}[5m])
				) > 0
			)`),
		m.record(NodeUsable, `avg by (job, backend, lock_node) ($ERRORS <= bool 0.5)`, "$ERRORS", NodeErrors),
		m.record(NodesUsable, `sum by (job, backend) ($USABLE > bool 0.5)`, "$USABLE", NodeUsable),
		m.record(NodesUsableForEach, `sum by (job, instance, backend) ($ERRORS <= bool 0.5)`, "$ERRORS", NodeErrors),
		m.record(NodeP99, `histogram_quantile(0.99,
			sum by (job, backend, lock_node, le) (rate(distributed_lock_node_duration_seconds_bucket{&,operation="acquire"}[5m])))`),
	}
}

// findings prefers the replica of the scanner that swept a node last: one that
// went to standby keeps what it found before. Until a sweep is complete, every
// replica counts.
func (m maker) findings() rulefmt.Rule {
	return m.record(Findings, `
		max by (job, lock_node, class) (
			distributed_lock_scanner_findings{&}
			and on (job, instance, lock_node) (
				distributed_lock_scanner_last_success_timestamp_seconds{&}
				== on (job, lock_node) group_left ()
				max by (job, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds{&})
			)
		)
		or max by (job, lock_node, class) (distributed_lock_scanner_findings{&})`)
}
