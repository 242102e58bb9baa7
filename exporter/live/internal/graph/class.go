package graph

import "github.com/lockscope/lockscope/exporter/live/state"

// byClass counts the waiters of a resource whose class is known.
func (c *contention) byClass() state.ByClass {
	counts := make(state.ByClass)
	for _, w := range c.waiters {
		if w.Class != "" {
			counts[string(w.Class)]++
		}
	}
	return counts
}

// construct is what the resource is part of, as its holder or a waiter says.
func (c *contention) construct() (of state.Construct) {
	for i := range c.holders {
		if of = c.holders[i].told.Construct; of.Kind != "" {
			return of
		}
	}
	for _, w := range c.waiters {
		if by := w.Record(); by.Kind != "" {
			return state.Construct{Kind: string(by.Kind), Slots: by.Slots}
		}
	}
	return of
}
