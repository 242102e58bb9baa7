package graph

import (
	"iter"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// Waits yields all calls that wait, without candidates and those that have just begun, each with its blocker or nil.
func (g *Graph) Waits() iter.Seq2[*calls.Waiter, *state.Blocker] {
	return func(yield func(*calls.Waiter, *state.Blocker) bool) {
		for _, c := range g.rows {
			for _, w := range c.waiters {
				if w.Waits(g.now) && !w.StandsBy() && !yield(w, g.blockerOf(c, w)) {
					return
				}
			}
		}
	}
}

// Links describes the chain from the holder of a contended resource: what it waits for, and so on.
func (g *Graph) Links(of text.ID) []state.Link {
	chain := g.Chain(of.Key())
	return g.links(of.Key(), chain[:min(len(chain), state.MaxChain)])
}
