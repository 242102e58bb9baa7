package live

import (
	"context"
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// MaxChain is how many links of a chain a Blocked resource has.
const MaxChain = 16

// graph is who blocks whom on a Board at one instant.
type graph struct {
	*waitgraph.Graph
	look *look
	rows []*contention   // most waited for first
	ways map[way]*waiter // who has waited longest on each edge
	held map[id]*held    // holders of the rows, once asked for
}

// way is an edge: from the lease on a resource to another that its holder waits for.
type way struct{ from, to id }

type held struct{ by *Blocker }

// onBoard stands for this process in the graph: its lockers may have several names, and a
// caller of one may hold the lease of another.
const onBoard = "this Board"

// graph makes the graph of the resources that somebody waits for: all others end a chain.
func (l *look) graph() *graph {
	g := &graph{look: l, ways: make(map[way]*waiter), held: make(map[id]*held)}
	var resources []waitgraph.Resource
	for _, c := range l.wanted {
		if c.blocks {
			resources = append(resources, g.resource(c))
		}
	}
	g.Graph = waitgraph.New(resources...)
	for _, r := range g.Contended(l.now) {
		g.rows = append(g.rows, l.wanted[idOf(r.Name)])
	}
	return g
}

// resource has one waiter for all callers that hold nothing.
func (g *graph) resource(c *contention) waitgraph.Resource {
	r := waitgraph.Resource{Name: c.key()}
	if len(c.holders) > 0 {
		r.Lease = &waitgraph.Lease{Fence: c.holders[0].told.Fence, Holder: lock.Holder{Instance: onBoard}}
	}
	idle := waitgraph.Waiter{Holder: lock.Holder{Instance: onBoard}}
	for _, w := range c.waiters {
		if len(w.holding) == 0 {
			if idle.Callers++; idle.Callers == 1 {
				idle.Since = w.began
			}
			continue
		}
		r.Waiters = append(r.Waiters, waitgraph.Waiter{Holder: lock.Holder{Instance: onBoard, Since: w.began}, Callers: 1, Holds: keyedAll(w.holding)})
		for _, h := range w.holding {
			if from := (way{id{h.Backend, h.Resource}, c.id}); g.ways[from] == nil && g.look.isHeld(h) {
				g.ways[from] = w
			}
		}
	}
	if idle.Callers > 0 {
		r.Waiters = append(r.Waiters, idle)
	}
	return r
}

// isHeld reports that a lease is the one on the Board: what a call held when it began to
// wait may be over.
func (l *look) isHeld(h lock.Held) bool {
	c := l.wanted[id{h.Backend, h.Resource}]
	return c != nil && slices.ContainsFunc(c.holders, func(x holder) bool { return x.told.Fence == h.Fence })
}

// blocked tells at most so many rows, and of each how many waiters are listed.
func (g *graph) blocked(ctx context.Context, listed []int, limit int) (rows []Blocked, omitted int) {
	rows = make([]Blocked, 0, min(len(g.rows), limit))
	for i, c := range g.rows[:min(len(g.rows), limit)] {
		if ctx.Err() != nil {
			break
		}
		rows = append(rows, g.row(c, listed[i]))
	}
	return rows, len(g.rows) - len(rows)
}

func (g *graph) row(c *contention, listed int) Blocked {
	row := Blocked{
		Resource: clip(c.resource, maxResource), Backend: clip(c.backend, maxName), Waiting: len(c.waiters), Listed: listed,
		Longest: c.waiters[0].waited(g.look.now).Seconds(), Holder: g.holderOf(c.id),
	}
	for _, w := range c.waiters {
		if w.lastErr == nil {
			continue
		}
		if row.Failing++; row.Failing == 1 {
			row.Error = errorText(w.lastErr, maxError)
		}
	}
	chain := g.Chain(c.key())
	if n := len(chain); n > 0 {
		last := chain[n-1]
		row.Deadlock = last == c.key() || slices.Contains(chain[:n-1], last)
	}
	row.Chain = g.links(c.key(), chain[:min(len(chain), MaxChain)])
	return row
}

// holderOf is who holds a resource that somebody waits for, as the one who has waited
// longest of those who know would tell.
func (g *graph) holderOf(of id) *Blocker {
	if known := g.held[of]; known != nil {
		return known.by
	}
	known := new(held)
	if c := g.look.wanted[of]; c != nil {
		for _, w := range c.waiters {
			if known.by = g.look.blockerOf(c, w); known.by != nil {
				break
			}
		}
	}
	g.held[of] = known
	return known.by
}

// links tells the way from the holder of a resource along the others.
func (g *graph) links(from string, others []string) (links []Link) {
	at := idOf(from)
	for _, other := range others {
		to := idOf(other)
		link := Link{Resource: clip(to.resource, maxResource), Backend: clip(to.backend, maxName), Holder: g.holderOf(to)}
		if w := g.ways[way{at, to}]; w != nil {
			link.For, link.CallSite, link.TraceID = w.waited(g.look.now).Seconds(), clip(w.callSite, maxName), traceText(w.trace)
		}
		links = append(links, link)
		at = to
	}
	return links
}

// cycle tells a deadlock: from the holder of the last resource to the first, and on.
func (g *graph) cycle(d lock.Deadlock) []Link {
	var names []string
	for _, h := range d.Cycle[:min(len(d.Cycle), MaxChain)] {
		names = append(names, h.Resource)
	}
	return g.links(names[len(names)-1], names)
}
