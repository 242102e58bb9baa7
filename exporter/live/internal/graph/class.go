package graph

import (
	"slices"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

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

// reading is who reads the resource on this Board, and how many callers here wait to write.
func (c *contention) reading() (of state.Reading) {
	for i := range c.holders {
		if h := &c.holders[i]; h.reads() {
			of.Add(h.told.Holder)
		}
	}
	for _, w := range c.waiters {
		if w.Kind == lock.KindWrite {
			of.Writers++
		}
	}
	slices.Sort(of.ReadBy)
	return of
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
