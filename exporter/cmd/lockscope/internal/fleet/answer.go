package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// The most of what a page says that is kept.
const (
	maxCalls    = 200 // of a page
	maxCounts   = 1000
	maxHolds    = 16
	maxName     = 128 // bytes
	maxResource = 512
)

// answer is the used part of a page's document.
type answer struct {
	Instance string          `json:"instance"`
	Waiting  []Call          `json:"waiting"`
	Blocked  []Count         `json:"blocked"` // missing from pages of older versions
	Read     *float64        `json:"read_seconds"`
	Totals   *state.Totals   `json:"totals"` // missing from pages of older versions
	History  []state.History `json:"history"`
}

// Call is a waiting call, as its process's page lists it.
type Call struct {
	Resource string   `json:"resource"`
	Backend  string   `json:"backend,omitempty"` // what its process calls the nodes; "" where that is not told
	Instance string   `json:"instance,omitempty"`
	For      float64  `json:"for_seconds"`
	Kind     string   `json:"kind,omitempty"` // attempt, or a locktrace.Wait
	Class    string   `json:"class,omitempty"`
	CallSite string   `json:"call_site,omitempty"`
	TraceID  string   `json:"trace_id,omitempty"`
	Holds    []string `json:"holds,omitempty"` // resources that the call holds meanwhile
}

// Count is how many calls wait for a resource.
type Count struct {
	Resource string `json:"resource"`
	Backend  string `json:"backend,omitempty"`
	Waiting  int    `json:"waiting"`

	Kind  lock.Kind `json:"kind,omitempty"` // what the resource is part of; missing from pages of older versions
	Slots int       `json:"slots,omitempty"`
}

func (a *answer) calls() []Call {
	all := a.Waiting[:min(len(a.Waiting), maxCalls)]
	for i := range all {
		c := &all[i]
		c.Resource, c.Instance, c.CallSite = clip(c.Resource, maxResource), clip(c.Instance, maxName),
			clip(c.CallSite, maxName)
		c.Kind, c.TraceID, c.Backend = clip(c.Kind, 32), clip(c.TraceID, 32), clip(c.Backend, maxName)
		c.Class = clip(c.Class, 32)
		c.Holds = c.Holds[:min(len(c.Holds), maxHolds)]
		for h := range c.Holds {
			c.Holds[h] = clip(c.Holds[h], maxResource)
		}
	}
	return slices.Clone(all)
}

// counts returns the page's own counts, or those of the calls that it lists.
func (a *answer) counts() (all []Count) {
	type name struct{ resource, backend string }
	listed := make(map[name]Count)
	of := func(resource, backend string) (name, Count) {
		n := name{clip(resource, maxResource), clip(backend, maxName)}
		c := listed[n]
		c.Resource, c.Backend = n.resource, n.backend
		return n, c
	}
	for _, w := range a.Waiting {
		n, c := of(w.Resource, w.Backend)
		c.Waiting++
		listed[n] = c
	}
	for _, b := range a.Blocked {
		n, c := of(b.Resource, b.Backend)
		c.Waiting = max(c.Waiting, min(b.Waiting, 1_000_000_000))
		if b.Kind.Valid() && b.Slots >= 0 && b.Slots <= records.MaxSlots {
			c.Kind, c.Slots = b.Kind, b.Slots
		}
		listed[n] = c
	}
	for _, c := range listed {
		if len(all) == maxCounts {
			break
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Backend, b.Backend))
	})
	return all
}

// clip keeps a text short, because a page may contain anything.
func clip(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ToValidUTF8(strings.Clone(s), "")
}

// recentFor is how many seconds rates look back: as many as state.Recent.
const recentFor = 60

// manyHolds is how many past holders tell a rate by the time that they cover.
const manyHolds = 10

// Recent covers the Acquire calls of a page's process in the last minute.
type Recent struct {
	Ended, Failed int
	P99           time.Duration // calls that have not ended count as long as they have waited
}

// Turnover is how often a resource was released by the processes of a page, in the last minute.
type Turnover struct {
	Resource, Backend string
	Rate              float64 // leases that ended a second
	HeldP99           time.Duration
}

// recent is nil where the page measures nothing: that of lockscope serve reads the nodes.
func (a *answer) recent() *Recent {
	if a.Read != nil || a.Totals == nil {
		return nil
	}
	r := a.Totals.Recent
	return &Recent{
		Ended: clamp(r.Ended), Failed: min(clamp(r.Failed), clamp(r.Ended)), P99: bounded(r.P99),
	}
}

// bounded is a duration that a page says in seconds.
func bounded(s float64) time.Duration {
	return time.Duration(max(0, min(s, math.MaxInt32)) * float64(time.Second))
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
		HeldP99: bounded(took[len(took)*99/100]),
	}, true
}
