package report

import (
	"slices"
	"time"
)

// Merge combines the reports of several Scanners. The result lasts from the first start to the last end and lists the
// worst findings first. It is a standby report only if all are.
func Merge(reports ...Report) Report {
	if len(reports) == 1 {
		return reports[0]
	}
	all := Report{Standby: len(reports) > 0}
	var end time.Time
	for _, r := range reports {
		all.Standby = all.Standby && r.Standby
		if !r.Started.IsZero() && (all.Started.IsZero() || r.Started.Before(all.Started)) {
			all.Started = r.Started
		}
		if until := r.Started.Add(r.Took); until.After(end) {
			end = until
		}
		all.Servers = append(all.Servers, r.Servers...)
		all.Nodes = append(all.Nodes, r.Nodes...)
		all.Findings = append(all.Findings, r.Findings...)
		all.Pending = append(all.Pending, r.Pending...)
		all.Resolved = append(all.Resolved, r.Resolved...)
		all.Excluded = append(all.Excluded, r.Excluded...)
		all.Gaps = append(all.Gaps, r.Gaps...)
		all.Skipped = append(all.Skipped, r.Skipped...)
		all.Silent = append(all.Silent, r.Silent...)
		all.Silents += r.Silents
		all.Unelected = all.Unelected || r.Unelected
		all.Overflow += r.Overflow
	}
	if !all.Started.IsZero() {
		all.Took = end.Sub(all.Started)
	}
	slices.Sort(all.Servers)
	for _, list := range [][]Finding{all.Findings, all.Pending, all.Resolved} {
		slices.SortStableFunc(list, func(a, b Finding) int { return Compare(&a, &b) })
	}
	slices.SortStableFunc(all.Silent, func(a, b Silent) int { return b.LastSeen.Compare(a.LastSeen) })
	all.Silent = all.Silent[:min(len(all.Silent), MaxSilent)]
	return all
}
