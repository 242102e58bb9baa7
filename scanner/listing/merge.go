package listing

import (
	"errors"
	"slices"
)

// Merge combines the listings of several Scanners, which must have been made with the same options. Locks of the same
// name in two groups stay two locks.
func Merge(o Options, listings ...Listing) Listing {
	if len(listings) == 1 || o.Complete() != nil {
		return append(listings, Listing{})[0]
	}
	var all Listing
	var waits []*Waits
	for _, l := range listings {
		if all.Started.IsZero() || l.Started.Before(all.Started) {
			all.Started = l.Started
		}
		all.Took, all.Reading = max(all.Took, l.Took), max(all.Reading, l.Reading)
		all.Locks = append(all.Locks, l.Locks...)
		all.Omitted += l.Omitted
		all.Truncated = all.Truncated || l.Truncated
		all.Nodes = append(all.Nodes, l.Nodes...)
		if l.Waits != nil {
			waits = append(waits, l.Waits)
		}
	}
	compare := o.Comparison()
	slices.SortStableFunc(all.Locks, func(a, b Lock) int { return compare(&a, &b) })
	if kept := min(len(all.Locks), o.Limit); kept < len(all.Locks) {
		all.Omitted += int64(len(all.Locks) - kept)
		all.Locks = all.Locks[:kept]
	}
	if len(waits) > 0 {
		all.Waits = MergeWaits(waits...)
	}
	return all
}

// MergeWaits combines the waits of several Scanners. If callers in several groups wait for the same name, the graph
// has only that of the first group.
func MergeWaits(waits ...*Waits) *Waits {
	if len(waits) == 1 {
		return waits[0]
	}
	all := &Waits{}
	var errs []error
	named := make(map[string]bool)
	var once []WaitedFor
	for _, w := range waits {
		all.Locks = append(all.Locks, w.Locks...)
		all.Deadlocks = append(all.Deadlocks, w.Deadlocks...)
		all.Read, all.Of = all.Read+w.Read, all.Of+w.Of
		all.Omitted = all.Omitted || w.Omitted
		all.More, all.Searched = all.More+w.More, append(all.Searched, w.Searched...)
		if all.At.IsZero() || w.At.Before(all.At) && !w.At.IsZero() {
			all.At = w.At
		}
		errs = append(errs, w.Err)
		for _, l := range w.Locks {
			if !named[l.Resource] {
				named[l.Resource] = true
				once = append(once, l)
			}
		}
	}
	all.Err, all.Graph = errors.Join(errs...), Graph(once)
	return all
}
