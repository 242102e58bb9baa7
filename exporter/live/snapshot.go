package live

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/graph"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// State returns the current state. It asks no node and waits for nothing. When ctx ends, it lists what it has
// gathered so far and counts the rest as omitted. The caller may change the result. Concurrent calls are safe. A call
// takes well below a millisecond unless many thousands hold or wait.
func (b *Board) State(ctx context.Context) state.State {
	now := time.Now()
	l := b.calls.Look(now, b.cfg.maxShown)
	g := graph.New(l)
	s := state.State{
		At: now.Round(0).UTC(), Instance: b.cfg.instance, TraceURL: b.cfg.traceURL,
		Objectives: state.Objectives{Warning: b.cfg.warning.Seconds(), Alarm: b.cfg.alarm.Seconds()},
		Totals:     g.Totals(), Deadlocks: b.deadlocks.Look(g, now),
		Waits: b.calls.Waits.Points(now), Nodes: b.nodes.Health(now), Slowest: b.calls.Slowest.Acquisitions(now),
	}
	s.Inflicted = b.calls.Profile.MostInflicted(now) // Look has charged the waits under way
	slices.SortStableFunc(s.Nodes, func(x, y state.Node) int {
		return cmp.Or(strings.Compare(x.Backend, y.Backend), strings.Compare(x.Name, y.Name))
	})
	s.Sets = state.SetsOf(s.Nodes)
	s.Totals.Recent = b.calls.Waits.Recent(now, waited(l))
	s.Stalls = b.calls.Waits.Stalls(now, longest(l))
	s.History = b.calls.Histories(now, g.Rows(), g.HolderOf)
	listed, lists := g.Choose(b.cfg.maxShown)
	s.Blocked, s.Omitted.Blocked = g.Blocked(ctx, listed, b.cfg.maxShown)
	s.Held, s.Omitted.Held = g.Held(ctx)
	s.Waiting, s.Omitted.Waiting = g.Waiting(ctx, lists)
	s.CountSlots()
	return s
}

// longest is how long the first of the unfinished calls has waited.
func longest(l *calls.Look) time.Duration {
	for d := range waited(l) {
		return d
	}
	return 0
}

// waited yields how long each unfinished call has waited, longest first. Candidates do not wait.
func waited(l *calls.Look) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := range l.Waiting {
			if w := &l.Waiting[i]; !w.StandsBy() && !yield(w.Waited(l.Now)) {
				return
			}
		}
	}
}
