package scanner

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockscope/lockscope/scanner/report"
)

// MergeSnapshots combines the snapshots of several Scanners for one collector. If two nodes have the same name, the
// collector takes the first.
func MergeSnapshots(snapshots ...Snapshot) Snapshot {
	if len(snapshots) == 1 {
		return snapshots[0]
	}
	all := Snapshot{Standby: len(snapshots) > 0}
	var reports []report.Report
	for _, s := range snapshots {
		all.Standby = all.Standby && s.Standby
		for _, n := range s.Nodes {
			n.Standby = s.Standby
			all.Nodes = append(all.Nodes, n)
		}
		if !s.Standby { // else it is not its own any more
			reports = append(reports, s.Last)
		}
		all.Undecided = errors.Join(all.Undecided, s.Undecided)
		all.MemoryFailures += s.MemoryFailures
	}
	slices.SortStableFunc(all.Nodes, func(a, b NodeTotals) int { return cmp.Compare(a.Node, b.Node) })
	all.Last = report.Merge(reports...)
	return all
}
