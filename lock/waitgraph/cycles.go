package waitgraph

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock"
)

// Cycles returns the shortest cycle through each resource, each cycle once. A cycle begins with the
// resource whose name sorts first. A cycle through a slot of a semaphore counts only if the holders of all
// its slots are stuck; one through a reader always does.
func (g *Graph) Cycles() (all []lock.DeadlockError) {
	seen := make(map[string]bool)
	for name := range g.stuck {
		cycle := shortestCycle(g.stuck, name)
		if len(cycle) == 0 {
			continue
		}
		d := lock.DeadlockError{}
		for _, resource := range cycle {
			d.Cycle = append(d.Cycle, lock.HeldLease{Resource: resource, Fence: g.fences[resource]})
		}
		d = FromFirst(d)
		if !seen[d.String()] {
			seen[d.String()] = true
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b lock.DeadlockError) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// Stuck reports whether callers that wait for a resource are in a cycle, or behind one: its holder waits, and nothing
// but giving up ends that. For a slot of a semaphore, the holders of all slots do.
func (g *Graph) Stuck(resource string) bool {
	if slots := g.either[resource]; slots != nil {
		return !slices.ContainsFunc(slots, func(slot string) bool { return len(g.stuck[slot]) == 0 })
	}
	return len(g.stuck[resource]) > 0
}

// FromFirst returns the same deadlock, beginning with the resource whose name sorts first, so that equal
// deadlocks compare equal. [Graph.Cycles] returns them in this form.
func FromFirst(d lock.DeadlockError) lock.DeadlockError {
	first := 0
	for i, h := range d.Cycle {
		if h.Resource < d.Cycle[first].Resource {
			first = i
		}
	}
	return lock.DeadlockError{Cycle: slices.Concat(d.Cycle[first:], d.Cycle[:first])}
}

// shortestCycle searches breadth-first. Its result begins with start.
func shortestCycle(edges map[string][]string, start string) []string {
	from := map[string]string{}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, next := range edges[at] {
			if next == start {
				cycle := []string{at}
				for at != start {
					at = from[at]
					cycle = append(cycle, at)
				}
				slices.Reverse(cycle)
				return cycle
			}
			if _, known := from[next]; !known {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// Watch remembers the cycles of the last graph. The zero value is ready to use. It is not safe for
// concurrent use.
type Watch struct{ last map[string]bool }

// Suspects reports whether the last graph had a cycle.
func (w *Watch) Suspects() bool { return len(w.last) > 0 }

// Deadlocks returns the cycles of g that the last graph had too: the same leases in the same order. Call
// it at intervals of 50 ms or more, so that cycles which resolve themselves do not count.
func (w *Watch) Deadlocks(g *Graph) (all []lock.DeadlockError) {
	now := make(map[string]bool)
	for _, d := range g.Cycles() {
		now[d.String()] = true
		if w.last[d.String()] {
			all = append(all, d)
		}
	}
	w.last = now
	return all
}
