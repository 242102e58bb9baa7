package graph

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// Totals counts everything.
func (g *Graph) Totals() state.Totals {
	t := state.Totals{Held: g.look.Held}
	for _, c := range g.rows {
		calls, longest := c.waits(g.now)
		if calls > 0 {
			t.Contended++
		}
		t.Waiting, t.Candidates = t.Waiting+calls, t.Candidates+len(c.waiters)-calls
		t.Longest = max(t.Longest, longest.Seconds())
	}
	t.Attempting = len(g.look.Waiting) - t.Waiting - t.Candidates
	if len(g.look.Oldest) > 0 {
		t.OldestHold = g.look.Oldest[0].Age(g.now).Seconds()
	}
	return t
}

// Held returns the oldest leases.
func (g *Graph) Held(ctx context.Context) (held []state.Held, omitted int) {
	held = make([]state.Held, 0, len(g.look.Oldest))
	for i, m := range g.look.Oldest {
		if ctx.Err() != nil {
			return held, g.look.Held - i
		}
		if h, ok := m.Tell(g.now); ok {
			for _, c := range []*contention{g.wanted[m.ID()], g.semaphoreOf(m.ID())} {
				if c != nil && c.blocks {
					h.Waiters += len(c.waiters)
				}
			}
			held = append(held, h)
		}
	}
	return held, g.look.Held - len(g.look.Oldest)
}

// Rows returns the resources with waiters, most waited for first.
func (g *Graph) Rows() []text.ID {
	rows := make([]text.ID, len(g.rows))
	for i, c := range g.rows {
		rows[i] = c.ID
	}
	return rows
}

// At most so many waiters of one resource are listed: some of each first, then more of
// those for which most is waited.
const (
	fewWaiters  = 5
	mostWaiters = 50
)

// Choose selects the waiters to list: the longest of each resource, and then others while there is room. listed is
// how many of each row.
func (g *Graph) Choose(room int) (listed []int, chosen []*calls.Waiter) {
	most := max(mostWaiters, room/4)
	listed = make([]int, len(g.rows))
	for _, upTo := range []int{fewWaiters, most} {
		for i, c := range g.rows {
			n := max(min(upTo, len(c.waiters), listed[i]+room), listed[i])
			chosen = append(chosen, c.waiters[listed[i]:n]...)
			room -= n - listed[i]
			listed[i] = n
		}
	}
	for i := range g.look.Waiting {
		if w := &g.look.Waiting[i]; room > 0 && !g.wanted[w.ID()].blocks {
			chosen = append(chosen, w)
			room--
		}
	}
	slices.SortStableFunc(chosen, func(x, y *calls.Waiter) int {
		return cmp.Or(x.Began.Compare(y.Began), cmp.Compare(x.Wants(), y.Wants()))
	})
	return listed, chosen
}

// Waiting describes these waiters.
func (g *Graph) Waiting(ctx context.Context, chosen []*calls.Waiter) (waiting []state.Waiter, omitted int) {
	waiting = make([]state.Waiter, 0, len(chosen))
	for _, w := range chosen {
		if ctx.Err() != nil {
			break
		}
		told := w.Tell(g.now)
		told.Blocker = g.blockerOf(g.wanted[w.ID()], w)
		waiting = append(waiting, told)
	}
	return waiting, len(g.look.Waiting) - len(waiting)
}

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
