// Package waitgraph says who blocks whom: from a resource to who holds it, from the lease
// to what its holder waits for, and on. It is built from what a process knows of itself, or
// from what the nodes tell of all (see redlock.ReadQueue), and reads the same everywhere.
//
// An edge goes from a lease to a resource: a call whose context descends from the lease
// waits for it. Processes are no nodes of the graph; what else they do has nothing to do
// with it. A cycle is a deadlock once it is seen a second time, unchanged: see [Watch].
package waitgraph

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Resource is one that is held, or waited for.
type Resource struct {
	Name    string
	Lease   *Lease // nil if nobody is known to hold it
	Waiters []Waiter
}

// Lease is who holds a resource. The fence is the one of its grant: leases that were
// handed it inside of its holder's process have later ones.
type Lease struct {
	Fence  uint64
	Holder lock.Holder
}

// Waiter is a process, or a call of this one, that waits for a resource.
type Waiter = records.Waiting

// Graph is everything that was seen at one time. It does not change.
type Graph struct {
	byName   map[string]*Resource
	waitsFor map[string][]string // what the holder of each waits for, by name
}

// New makes the graph of so many resources. Those of one name are taken for one: their
// waiters are joined, and a later lease replaces an earlier one.
func New(resources ...Resource) *Graph {
	g := &Graph{byName: make(map[string]*Resource, len(resources)), waitsFor: make(map[string][]string)}
	for _, r := range resources {
		known := g.byName[r.Name]
		if known == nil {
			g.byName[r.Name] = &r
			continue
		}
		if r.Lease != nil && (known.Lease == nil || r.Lease.Fence > known.Lease.Fence) {
			known.Lease = r.Lease
		}
		known.Waiters = append(known.Waiters[:len(known.Waiters):len(known.Waiters)], r.Waiters...)
	}
	for name, r := range g.byName {
		for _, w := range r.Waiters {
			g.addEdges(w, name)
		}
	}
	for name, others := range g.waitsFor {
		slices.Sort(others)
		g.waitsFor[name] = slices.Compact(others)
	}
	return g
}

// addEdges leads from the leases that a waiter holds to what it waits for. A lease on
// another set of nodes is none of the graph.
func (g *Graph) addEdges(w Waiter, resource string) {
	for _, h := range w.Holds {
		if r := g.byName[h.Resource]; r != nil && r.Lease != nil && r.Lease.is(h, w.Instance) {
			g.waitsFor[h.Resource] = append(g.waitsFor[h.Resource], resource)
		}
	}
}

// is reports that what a process holds is this lease, or one that was handed it.
func (l *Lease) is(h lock.Held, instance string) bool {
	return h.Backend == "" && instance == l.Holder.Instance && h.Fence >= l.Fence
}

// Resource is what is known of one; nil if nothing is.
func (g *Graph) Resource(name string) *Resource { return g.byName[name] }

// Contended are the resources that somebody waits for: those first for which most has
// been waited in all until now, callers times the longest wait.
func (g *Graph) Contended(now time.Time) (all []*Resource) {
	for _, r := range g.byName {
		if len(r.Waiters) > 0 {
			all = append(all, r)
		}
	}
	weight := func(r *Resource) float64 { return float64(r.Callers()) * now.Sub(r.Longest()).Seconds() }
	slices.SortFunc(all, func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Callers is how many calls wait for the resource.
func (r *Resource) Callers() (n int) {
	for _, w := range r.Waiters {
		n += max(w.Callers, 1)
	}
	return n
}

// Longest is since when somebody has been waiting; zero if nobody is.
func (r *Resource) Longest() (since time.Time) {
	for _, w := range r.Waiters {
		if since.IsZero() || w.Since.Before(since) {
			since = w.Since
		}
	}
	return since
}

// WaitsFor are the resources that the holder of this one waits for, in the order of
// their names.
func (g *Graph) WaitsFor(resource string) []string { return g.waitsFor[resource] }

// Waiter is who holds the lease of one resource and waits for another; ok is false if
// nobody is known to.
func (g *Graph) Waiter(from, to string) (w Waiter, ok bool) {
	held, other := g.byName[from], g.byName[to]
	if held == nil || held.Lease == nil || other == nil {
		return Waiter{}, false
	}
	for _, w := range other.Waiters {
		for _, h := range w.Holds {
			if h.Resource == from && held.Lease.is(h, w.Instance) {
				return w, true
			}
		}
	}
	return Waiter{}, false
}

// Chain is what the holder of a resource waits for, what the holder of that waits for,
// and so on, as far as it goes or until it comes to a resource again, which is then the
// last. Of several that one holder waits for it follows the first.
func (g *Graph) Chain(resource string) (chain []string) {
	for at := resource; ; {
		next := g.waitsFor[at]
		if len(next) == 0 {
			return chain
		}
		at = next[0]
		again := at == resource || slices.Contains(chain, at)
		if chain = append(chain, at); again {
			return chain
		}
	}
}

// Cycles are the cycles of the graph, each beginning with the resource whose name comes
// first, the shortest cycle through each resource once.
func (g *Graph) Cycles() (all []lock.Deadlock) {
	seen := make(map[string]bool)
	for name := range g.waitsFor {
		cycle := shortestCycle(g.waitsFor, name)
		if len(cycle) == 0 {
			continue
		}
		d := lock.Deadlock{}
		for _, resource := range cycle {
			d.Cycle = append(d.Cycle, lock.Held{Resource: resource, Fence: g.byName[resource].Lease.Fence})
		}
		d = FromFirst(d)
		if !seen[d.String()] {
			seen[d.String()] = true
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b lock.Deadlock) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// FromFirst is the same deadlock, told from the resource whose name comes first, as Cycles
// tells all of them: so it can be recognized.
func FromFirst(d lock.Deadlock) lock.Deadlock {
	first := 0
	for i, h := range d.Cycle {
		if h.Resource < d.Cycle[first].Resource {
			first = i
		}
	}
	return lock.Deadlock{Cycle: slices.Concat(d.Cycle[first:], d.Cycle[:first])}
}

// shortestCycle searches by breadth; the result begins with start.
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

// Watch remembers the cycles of the last look. The zero value has not looked yet. It is
// not safe for concurrent use.
type Watch struct{ last map[string]bool }

// Suspects reports that the last look has seen a cycle.
func (w *Watch) Suspects() bool { return len(w.last) > 0 }

// Deadlocks are the cycles of g that were there the last time, too: the same leases, in
// the same order. Looks should be as far apart as calls take that only look like a cycle,
// some 50 ms or more.
func (w *Watch) Deadlocks(g *Graph) (all []lock.Deadlock) {
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
