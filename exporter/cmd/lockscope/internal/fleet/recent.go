package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// recentFor is how long back rates look, in seconds: as far as state.Recent.
const recentFor = 60

// manyHolds is how many past holders tell a rate by the time that they cover.
const manyHolds = 10

// Recent covers the Acquire calls of a page's process in the last minute.
type Recent struct {
	Ended, Failed int
	P99           float64 // seconds; calls that have not ended count as long as they have waited
}

// Turnover is how often a resource was released by the processes of a page, in the last minute.
type Turnover struct {
	Resource, Backend string
	Rate              float64 // leases that ended a second
	HeldP99           float64 // seconds
}

// recent is nil where the page measures nothing: that of lockscope serve reads the nodes.
func (a *answer) recent() *Recent {
	if a.Read != nil || a.Totals == nil {
		return nil
	}
	r := a.Totals.Recent
	return &Recent{
		Ended: clamp(r.Ended), Failed: min(clamp(r.Failed), clamp(r.Ended)), P99: max(0, min(r.P99, math.MaxInt32)),
	}
}

func clamp(n int) int { return max(0, min(n, 1_000_000_000)) }

// turnover is that of the resources whose past holders the page lists.
func (a *answer) turnover() (all []Turnover) {
	for _, h := range a.History[:min(len(a.History), maxCounts)] {
		if t, ok := turnoverOf(&h); ok {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Turnover) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Backend, b.Backend))
	})
	return all
}

func turnoverOf(h *state.History) (Turnover, bool) {
	window, oldest := float64(recentFor), 0.0
	var took []float64
	for _, t := range h.Holds {
		if !t.Elsewhere && t.Ended >= 0 && t.Ended <= recentFor {
			took, oldest = append(took, t.Took), max(oldest, t.Ended)
		}
	}
	if len(took) == 0 {
		return Turnover{}, false
	}
	if len(took) >= manyHolds { // older ones may be left out: only the time that the list covers is known
		window = max(oldest, 1)
	}
	slices.Sort(took)
	return Turnover{
		Resource: clip(h.Resource, maxResource), Backend: clip(h.Backend, maxName), Rate: float64(len(took)) / window,
		HeldP99: max(0, min(took[len(took)*99/100], math.MaxInt32)),
	}, true
}
