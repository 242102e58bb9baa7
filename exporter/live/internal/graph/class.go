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
