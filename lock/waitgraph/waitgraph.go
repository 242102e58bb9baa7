// Package waitgraph shows who blocks whom: it leads from a resource to its lease, from the lease to the
// resources that its holder waits for, and on. Build it from what one process knows, or from
// the queues on the nodes (see package scanner/listing).
//
// An edge leads from a lease to a resource: a call whose context descends from the lease waits for the
// resource. Processes are not part of the graph. A call that holds several leases, such as those of a
// lockset, is one [records.Waiting] with one wait: an edge leads from each lease to the same resource.
//
// A call that waits for a semaphore goes on as soon as one of its slots is free. It is stuck only if the
// holders of all slots are: a cycle through one slot alone is no deadlock. A slot without a known lease
// counts as free, so give New the leases of all slots (see [SlotsOf]).
//
// A writer of a read/write lock waits for all of its readers: a cycle through any one of them is a deadlock. A reader
// waits for a writer, and through it for the other readers. Beside readers alone it waits for nobody: it just asks.
//
// A cycle is a deadlock if it is seen twice, unchanged: see [Watch].
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
	Lease   *Lease  // nil if no holder is known; of several readers the one that began first
	Readers []Lease // other readers, beside Lease
	Waiters []records.Waiting
}

// Lease is the lease on a resource. Fence is that of the grant: leases that were handed over inside
// the holder's process have later ones.
type Lease struct {
	Fence  uint64
	Holder lock.Holder
}

// SlotsOf returns the names of all slots of the semaphore that a waiter for a resource waits for. It returns
// nil for all other waiters, which wait for the resource itself.
func SlotsOf(resource string, w records.Waiting) []string {
	return records.SlotsOf(resource, records.ConstructOf(w.Holder))
}

// Graph is a snapshot of resources, leases and waiters. It does not change, and is safe for concurrent
// use.
type Graph struct {
	byName   map[string]*Resource
	waitsFor map[string][]string // what the holder of each waits for, by name
	stuck    map[string][]string // the same, without waits that can end while all others go on
	either   map[string][]string // all slots, by each resource that callers wait for as part of a semaphore
	fences   map[string]uint64   // of the leases in stuck, by resource: of several readers the lowest
}

// New returns the graph of the resources. It merges resources with the same name: it joins their
// waiters and their readers, and keeps the lease with the higher fence.
func New(resources ...Resource) *Graph {
	g := &Graph{byName: make(map[string]*Resource, len(resources)), waitsFor: make(map[string][]string),
		stuck: make(map[string][]string), either: make(map[string][]string), fences: make(map[string]uint64)}
	for _, r := range resources {
		known := g.byName[r.Name]
		if known == nil {
			known = &Resource{Name: r.Name}
			g.byName[r.Name] = known
		}
		known.join(&r)
		known.Waiters = append(known.Waiters[:len(known.Waiters):len(known.Waiters)], r.Waiters...)
	}
	var waits []*wait
	for name, r := range g.byName {
		for _, w := range r.Waiters {
			if found := g.waitOf(w, name); found != nil {
				waits = append(waits, found)
			}
		}
	}
	g.addEdges(waits)
	return g
}

func (g *Graph) addEdges(waits []*wait) {
	markEnding(waits)
	for _, w := range waits {
		for lease, fence := range w.holds {
			g.waitsFor[lease] = append(g.waitsFor[lease], w.resource)
			if !w.ends {
				g.stuck[lease] = append(g.stuck[lease], w.either...)
				if lowest, ok := g.fences[lease]; !ok || fence < lowest {
					g.fences[lease] = fence
				}
			}
		}
	}
	for _, edges := range []map[string][]string{g.waitsFor, g.stuck} {
		for name, others := range edges {
			slices.Sort(others)
			edges[name] = slices.Compact(others)
		}
	}
}

// waitOf returns the wait of a waiter that holds leases; nil if it holds none. Leases on another set of nodes
// are not part of the graph.
func (g *Graph) waitOf(w records.Waiting, resource string) *wait {
	found := &wait{holds: make(map[string]uint64), resource: resource, either: SlotsOf(resource, w)}
	if found.either != nil {
		g.either[resource] = found.either
	}
	if w.Kind == lock.KindRead && g.byName[resource].onlyRead() {
		return nil
	}
	for _, h := range w.Holds {
		if l := g.byName[h.Resource].leaseOf(h, w.Instance); l != nil {
			found.holds[h.Resource] = l.Fence
		}
	}
	if len(found.holds) == 0 {
		return nil
	}
	if found.either == nil {
		found.either = []string{resource}
	}
	return found
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

// WaitsFor returns the names of the resources that the holder of this one waits for, or its readers do, sorted.
func (g *Graph) WaitsFor(resource string) []string { return g.waitsFor[resource] }

// Waiter returns the waiter for resource to that holds the lease of resource from. ok is false if none
// is known.
func (g *Graph) Waiter(from, to string) (w records.Waiting, ok bool) {
	held, other := g.byName[from], g.byName[to]
	if other == nil {
		return records.Waiting{}, false
	}
	for _, w := range other.Waiters {
		for _, h := range w.Holds {
			if h.Resource == from && held.leaseOf(h, w.Instance) != nil {
				return w, true
			}
		}
	}
	return records.Waiting{}, false
}

// Chain returns the resource that the holder of a resource waits for, then the one that its holder waits
// for, and so on. If a holder waits for several, Chain follows the first. It ends at a resource whose
// holder does not wait, at a slot of a semaphore if another slot's holder does not wait, or with the first
// resource that it meets again.
func (g *Graph) Chain(resource string) (chain []string) {
	for at := resource; ; {
		next := g.waitsFor[at]
		if len(next) == 0 || at != resource && g.mayEnd(at) {
			return chain
		}
		at = next[0]
		again := at == resource || slices.Contains(chain, at)
		if chain = append(chain, at); again {
			return chain
		}
	}
}

// mayEnd reports whether callers wait for a resource as part of a semaphore, and the holder of one of its
// slots does not wait.
func (g *Graph) mayEnd(resource string) bool {
	return slices.ContainsFunc(g.either[resource], func(slot string) bool { return len(g.waitsFor[slot]) == 0 })
}
