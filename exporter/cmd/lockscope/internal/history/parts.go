package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// parts adds up two lists, and keeps the largest.
func parts(a, b []state.WaitedPart) []state.WaitedPart {
	all := slices.Clone(a)
	for _, p := range b {
		of := p
		of.Waited = 0
		i := slices.IndexFunc(all, func(k state.WaitedPart) bool {
			k.Waited = 0
			return k == of
		})
		if i < 0 {
			all = append(all, p)
		} else {
			all[i].Waited += p.Waited
		}
	}
	slices.SortStableFunc(all, func(x, y state.WaitedPart) int { return cmp.Compare(y.Waited, x.Waited) })
	return all[:min(len(all), state.MaxParts)]
}

// sum adds up the buckets of two rows. Both rows have the same number of buckets.
func sum(a, b []int) []int {
	all := slices.Clone(a)
	for i := range all {
		all[i] += b[i]
	}
	return all
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
