package page

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// complete counts what a source lists but does not count, such as one that knows of locks other than from a
// live.Board. Objectives get their defaults.
func complete(s state.State) state.State {
	if s.Sets == nil {
		s.Sets = state.SetsOf(s.Nodes)
	}
	slices.SortStableFunc(s.Blocked, func(x, y state.Blocked) int { return cmp.Compare(standsBy(x), standsBy(y)) })
	if s.Objectives == (state.Objectives{}) {
		s.Objectives = state.Objectives{Warning: live.DefaultWarning.Seconds(), Alarm: live.DefaultAlarm.Seconds()}
	}
	if s.Totals != (state.Totals{}) {
		return s
	}
	if s.Blocked == nil {
		s.Blocked = blocked(s.Waiting)
		s.Totals.Waiting = s.Omitted.Waiting // in no row
	}
	s.Totals.Held = len(s.Held) + s.Omitted.Held
	for _, h := range s.Held {
		s.Totals.OldestHold = max(s.Totals.OldestHold, h.Age)
	}
	for _, b := range s.Blocked {
		if standsBy(b) == 1 {
			s.Totals.Candidates += b.Waiting
			continue
		}
		s.Totals.Contended++
		s.Totals.Waiting += b.Waiting
		s.Totals.Longest = max(s.Totals.Longest, b.Longest)
	}
	return s
}

// standsBy is 1 for an election, whose candidates do not wait, and 0 for other rows.
func standsBy(b state.Blocked) int {
	if b.Kind == string(lock.KindElection) {
		return 1
	}
	return 0
}

// blocked returns the resources with waiters, most waited for first.
func blocked(waiting []state.Waiter) []state.Blocked {
	rows := make([]state.Blocked, 0)
	type lockOf struct{ backend, resource string }
	at := make(map[lockOf]int)
	for _, w := range waiting {
		of := lockOf{w.Backend, w.Resource}
		i, known := at[of]
		if !known {
			i = len(rows)
			at[of] = i
			rows = append(rows, state.Blocked{Resource: w.Resource, Backend: w.Backend, ByClass: state.ByClass{}})
		}
		row := &rows[i]
		row.Waiting++
		row.Listed++
		row.Longest = max(row.Longest, w.For)
		if row.Holder == nil {
			row.Holder = w.Blocker
		}
		if w.Error != "" {
			row.Failing++
			row.Error = cmp.Or(row.Error, w.Error)
		}
		if w.Class != "" {
			row.ByClass[w.Class]++
		}
	}
	slices.SortStableFunc(rows, func(x, y state.Blocked) int {
		return cmp.Compare(float64(y.Waiting)*y.Longest, float64(x.Waiting)*x.Longest)
	})
	return rows
}
