package serve

import (
	"slices"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

// graph makes of a reading of queues what the page says of who blocks whom, as it was then.
type graph struct {
	*listing.Waits
	votes
}

// blocked counts every call, also those that have no row of their own.
func (g graph) blocked(rows []state.Waiter) (all []state.Blocked) {
	listed := make(map[string]int)
	for _, w := range rows {
		listed[w.Resource]++
	}
	for i := range g.Locks {
		f := &g.Locks[i]
		b := state.Blocked{
			Resource: inspect.KeyText(f.Resource), Waiting: f.Waiting(), Listed: listed[inspect.KeyText(f.Resource)],
			Longest: f.Longest().Seconds(), Holder: blocker(f.Lock), Construct: construct(f.Construct()),
			Reading: reading(f.Lock),
		}
		b.Writers = f.Writers()
		if class := g.class(f.Lock); class != "" {
			b.ByClass = state.ByClass{string(class): b.Waiting}
		}
		at := f.Resource
		for _, next := range g.Graph.Chain(f.Resource) {
			b.Chain = append(b.Chain, g.link(at, next))
			at = next
		}
		b.Deadlock = g.Graph.Stuck(f.Resource) && slices.ContainsFunc(g.Deadlocks, func(d lock.DeadlockError) bool {
			return slices.ContainsFunc(d.Cycle, func(h lock.HeldLease) bool { return h.Resource == f.Resource })
		})
		all = append(all, b)
	}
	return all
}

// link leads from the holder of one resource to another, which it waits for.
func (g graph) link(from, to string) state.Link {
	l := state.Link{Resource: inspect.KeyText(to)}
	i := slices.IndexFunc(g.Locks, func(f listing.WaitedFor) bool { return f.Resource == to })
	if i < 0 {
		return l
	}
	l.Holder = blocker(g.Locks[i].Lock)
	if w, ok := g.Graph.Waiter(from, to); ok {
		l.For, l.CallSite, l.TraceID = max(0, g.Locks[i].At.Sub(w.Since)).Seconds(), w.CallSite,
			fleet.TraceID(w.Traceparent)
	}
	return l
}

func (g graph) deadlocks() (all []state.Deadlock) {
	for _, d := range g.Waits.Deadlocks {
		cycle := state.Deadlock{}
		for i, held := range d.Cycle {
			before := d.Cycle[(i+len(d.Cycle)-1)%len(d.Cycle)]
			cycle.Cycle = append(cycle.Cycle, g.link(before.Resource, held.Resource))
		}
		all = append(all, cycle)
	}
	return all
}
