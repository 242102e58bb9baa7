package page

import (
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/scanner/report"
)

// document is what is served as JSON and in events.
type document struct {
	state.State
	Scan  *report.Document `json:"scan"`
	Views []string         `json:"views"`           // that are served below the page: see WithViews
	Fleet string           `json:"fleet,omitempty"` // page of all processes: see WithFleet
}

// listed returns the state without null lists. It does not change what the source may still hold.
func listed(s state.State) state.State {
	s = complete(s)
	s.Deadlocks = orEmpty(s.Deadlocks)
	s.Blocked = orEmpty(s.Blocked)
	s.History = orEmpty(s.History)
	s.Held = orEmpty(s.Held)
	s.Waiting = orEmpty(s.Waiting)
	s.Waits = orEmpty(s.Waits)
	s.Inflicted = orEmpty(s.Inflicted)
	s.Nodes = orEmpty(s.Nodes)
	s.Stalls = orEmpty(s.Stalls)
	slowest := make([]state.Acquisition, len(s.Slowest))
	for i, a := range s.Slowest {
		a.Steps = orEmpty(a.Steps)
		slowest[i] = a
	}
	s.Slowest = slowest
	return s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// scanOf returns the document of the report, or that of no sweep.
func scanOf(r report.Report, swept bool) *report.Document {
	if !swept {
		r = report.Report{}
	}
	d := report.NewDocument(r)
	return &d
}
