// Package waitgraph shows who blocks whom: it leads from a resource to its lease, from the lease to the
// resources that its holder waits for, and on. Build it from what one process knows, or from
// the queues on the nodes (see redlock.ReadQueue).
//
// An edge leads from a lease to a resource: a call whose context descends from the lease waits for the
// resource. Processes are not part of the graph. A cycle is a deadlock if it is seen twice, unchanged:
// see [Watch].
package waitgraph

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Resource is a resource that is held or waited for.
type Resource struct {
	Name    string
	Lease   *Lease // nil if no holder is known
	Waiters []Waiter
}

// Lease is the lease on a resource. Fence is that of the grant: leases that were handed over inside
// the holder's process have later ones.
type Lease struct {
	Fence  uint64
	Holder lock.Holder
}

// Waiter is a process, or a call of this process, that waits for a resource.
type Waiter = records.Waiting

// Graph is a snapshot of resources, leases and waiters. It does not change, and is safe for concurrent
// use.
type Graph struct {
	byName   map[string]*Resource
	waitsFor map[string][]string // what the holder of each waits for, by name
}

// New returns the graph of the resources. It merges resources with the same name: it joins their
// waiters, and keeps the lease with the higher fence.
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

// addEdges adds edges from the leases that a waiter holds to the resource that it waits for. Leases on
// another set of nodes are not part of the graph.
func (g *Graph) addEdges(w Waiter, resource string) {
	for _, h := range w.Holds {
		if r := g.byName[h.Resource]; r != nil && r.Lease != nil && r.Lease.is(h, w.Instance) {
			g.waitsFor[h.Resource] = append(g.waitsFor[h.Resource], resource)
		}
	}
}

// is reports whether a process's lease is this one, or was handed over from it.
func (l *Lease) is(h lock.HeldLease, instance string) bool {
	return h.Backend == "" && instance == l.Holder.Instance && h.Fence >= l.Fence
}

// Resource returns the resource with this name; nil if there is none.
func (g *Graph) Resource(name string) *Resource { return g.byName[name] }

// Contended returns the resources that have waiters, sorted by the number of callers times the longest
// wait until now, largest first.
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

// Callers returns how many calls wait for the resource.
func (r *Resource) Callers() (n int) {
	for _, w := range r.Waiters {
		n += max(w.Callers, 1)
	}
	return n
}

// Longest returns when the longest wait began; zero if nobody waits.
func (r *Resource) Longest() (since time.Time) {
	for _, w := range r.Waiters {
		if since.IsZero() || w.Since.Before(since) {
			since = w.Since
		}
	}
	return since
}

// WaitsFor returns the names of the resources that the holder of this one waits for, sorted.
func (g *Graph) WaitsFor(resource string) []string { return g.waitsFor[resource] }

// Waiter returns the waiter for resource to that holds the lease of resource from. ok is false if none
// is known.
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

// Chain returns the resource that the holder of a resource waits for, then the one that its holder waits
// for, and so on. If a holder waits for several, Chain follows the first. It ends at a resource whose
// holder does not wait, or with the first one that it meets again.
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

// Cycles returns the shortest cycle through each resource, each cycle once. A cycle begins with the
// resource whose name sorts first.
func (g *Graph) Cycles() (all []lock.Deadlock) {
	seen := make(map[string]bool)
	for name := range g.waitsFor {
		cycle := shortestCycle(g.waitsFor, name)
		if len(cycle) == 0 {
			continue
		}
		d := lock.Deadlock{}
		for _, resource := range cycle {
			d.Cycle = append(d.Cycle, lock.HeldLease{Resource: resource, Fence: g.byName[resource].Lease.Fence})
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

// FromFirst returns the same deadlock, beginning with the resource whose name sorts first, so that equal
// deadlocks compare equal. [Graph.Cycles] returns them in this form.
func FromFirst(d lock.Deadlock) lock.Deadlock {
	first := 0
	for i, h := range d.Cycle {
		if h.Resource < d.Cycle[first].Resource {
			first = i
		}
	}
	return lock.Deadlock{Cycle: slices.Concat(d.Cycle[first:], d.Cycle[:first])}
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
