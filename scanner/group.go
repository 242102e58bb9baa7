package scanner

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// MergeReports makes one report of those of several Scanners: from when the first began
// until the last ended, findings worst first. It is a standby's if all are.
func MergeReports(reports ...Report) Report { return report.Merge(reports...) }

// MergeSnapshots makes one snapshot of those of several Scanners, for one collector. Of
// two nodes with one name the collector takes the first.
func MergeSnapshots(snapshots ...Snapshot) Snapshot {
	if len(snapshots) == 1 {
		return snapshots[0]
	}
	all := Snapshot{Standby: len(snapshots) > 0}
	var reports []Report
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
	}
	slices.SortStableFunc(all.Nodes, func(a, b NodeTotals) int { return cmp.Compare(a.Node, b.Node) })
	all.Last = MergeReports(reports...)
	return all
}

// MergeListings makes one listing of those of several Scanners, asked for with the same
// options. Locks of one name in two groups are two.
func MergeListings(o ListOptions, listings ...Listing) Listing { return listing.Merge(o, listings...) }

// MergeWaits makes one of what several Scanners read. A name that several groups wait for
// is in the graph once: that of the first.
func MergeWaits(waits ...*Waits) *Waits { return listing.MergeWaits(waits...) }
