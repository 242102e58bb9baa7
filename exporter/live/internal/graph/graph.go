// Package graph finds who blocks whom on a Board at one instant: the holders that calls wait for, the chains of what
// those holders wait for, and deadlocks.
package graph

import (
	"context"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// Graph is who blocks whom on a Board at one instant.
type Graph struct {
	*waitgraph.Graph
	*scene
	look *calls.Look
	rows []*contention              // most waited for first, elections last
	ways map[way]*calls.Waiter      // who has waited longest on each edge
	held map[text.ID]*state.Blocker // holders of the rows, once asked for
}

// way is an edge from a held resource to the one that its holder waits for.
type way struct{ from, to text.ID }

// onBoard stands for this process in the graph. Its lockers may have several names, and a caller of one may hold the
// lease of another.
const onBoard = "this Board"

// New makes the graph of the resources with waiters. All other resources end a chain.
func New(l *calls.Look) *Graph {
	g := &Graph{scene: newScene(l), look: l, ways: make(map[way]*calls.Waiter), held: make(map[text.ID]*state.Blocker)}
	var resources []waitgraph.Resource
	for _, c := range g.wanted {
		if c.blocks || c.slot {
			resources = append(resources, g.resource(c))
		}
	}
	g.Graph = waitgraph.New(resources...)
	var elections []*contention
	for _, r := range g.Contended(g.now) {
		c := g.wanted[text.IDOf(r.Name)]
		if !c.blocks {
			continue
		}
		if calls, _ := c.waits(g.now); calls == 0 {
			elections = append(elections, c)
		} else {
			g.rows = append(g.rows, c)
		}
	}
	g.rows = append(g.rows, elections...)
	return g
}

// resource has one waiter for all callers that hold nothing.
func (g *Graph) resource(c *contention) waitgraph.Resource {
	r := waitgraph.Resource{Name: c.Key()}
	for _, h := range c.holders {
		l := waitgraph.Lease{Fence: h.told.Fence, Holder: lock.Holder{Instance: onBoard, Kind: lock.Kind(h.told.Kind)}}
		switch {
		case r.Lease == nil:
			r.Lease = &l
		case h.reads():
			r.Readers = append(r.Readers, l)
		}
	}
	idle, idleReaders := records.Waiting{Holder: lock.Holder{Instance: onBoard}}, 0
	for _, w := range c.waiters {
		if len(w.Holds) == 0 {
			if w.Kind == lock.KindRead {
				idleReaders++
			}
			if idle.Callers++; idle.Callers == 1 {
				by := w.Record()
				idle.Since, idle.Kind, idle.Slots = w.Began, by.Kind, by.Slots
			}
			continue
		}
		by := w.Record()
		by.Instance, by.Since = onBoard, w.Began
		r.Waiters = append(r.Waiters, records.Waiting{Holder: by, Callers: 1, Holds: text.KeyedAll(w.Holds)})
		for _, h := range w.Holds {
			from := way{text.ID{Backend: h.Backend, Resource: h.Resource}, c.ID}
			if g.ways[from] == nil && g.isHeld(h) {
				g.ways[from] = w
			}
		}
	}
	if idle.Callers > 0 {
		if idle.Kind == lock.KindRead && idleReaders < idle.Callers {
			idle.Kind = lock.KindWrite // readers wait for a writer among them
		}
		r.Waiters = append(r.Waiters, idle)
	}
	return r
}

// Blocked returns at most limit rows, with how many waiters of each are listed.
func (g *Graph) Blocked(ctx context.Context, listed []int, limit int) (rows []state.Blocked, omitted int) {
	rows = make([]state.Blocked, 0, min(len(g.rows), limit))
	for i, c := range g.rows[:min(len(g.rows), limit)] {
		if ctx.Err() != nil {
			break
		}
		rows = append(rows, g.row(c, listed[i]))
	}
	return rows, len(g.rows) - len(rows)
}

func (g *Graph) row(c *contention, listed int) state.Blocked {
	row := state.Blocked{
		Resource: text.Resource(c.Resource), Backend: text.Name(c.Backend), Waiting: len(c.waiters), Listed: listed,
		Longest: c.waiters[0].Waited(g.now).Seconds(), Holder: g.HolderOf(c.ID),
		ByClass: c.byClass(), Construct: c.construct(), Reading: c.reading(),
	}
	for _, w := range c.waiters {
		if w.LastErr == nil {
			continue
		}
		if row.Failing++; row.Failing == 1 {
			row.Error, row.Votes = text.Error(w.LastErr), text.Votes(w.LastErr)
		}
	}
	chain := g.Chain(c.Key())
	row.Deadlock = g.Stuck(c.Key())
	row.Chain = g.links(c.Key(), chain[:min(len(chain), state.MaxChain)])
	return row
}

// HolderOf returns the holder of a contended resource, as known to the caller that has waited longest.
func (g *Graph) HolderOf(of text.ID) (by *state.Blocker) {
	if by, known := g.held[of]; known {
		return by
	}
	if c := g.wanted[of]; c != nil {
		for _, w := range c.waiters {
			if by = g.blockerOf(c, w); by != nil {
				break
			}
		}
	}
	g.held[of] = by
	return by
}

// links describes the chain from the holder of a resource along the others.
func (g *Graph) links(from string, others []string) (links []state.Link) {
	at := text.IDOf(from)
	for _, other := range others {
		to := text.IDOf(other)
		link := state.Link{Resource: text.Resource(to.Resource), Backend: text.Name(to.Backend), Holder: g.HolderOf(to)}
		if w := g.ways[way{at, to}]; w != nil {
			link.For = w.Waited(g.now).Seconds()
			link.CallSite, link.TraceID = text.Name(w.CallSite), text.TraceID(w.Trace)
		}
		links = append(links, link)
		at = to
	}
	return links
}

// cycle describes a deadlock, from the holder of the last resource to the first, and on.
func (g *Graph) cycle(d lock.DeadlockError) []state.Link {
	var names []string
	for _, h := range d.Cycle[:min(len(d.Cycle), state.MaxChain)] {
		names = append(names, h.Resource)
	}
	return g.links(names[len(names)-1], names)
}
