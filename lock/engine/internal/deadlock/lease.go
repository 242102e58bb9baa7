package deadlock

import (
	"context"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Described is what a lease says of itself.
type Described interface {
	Info() lock.HeldLease
	Cause() error // why it ended; nil while it is held
}

// Lease is a lease in the graph, and in the contexts that descend from it.
type Lease struct {
	of    Described
	outer *Lease // that the call which acquired this one held
	reads bool   // beside other leases on its resource

	mu    sync.Mutex
	edges []edge // calls that wait in the context of this lease
}

// edge says that a call which holds the lease waits for a resource.
type edge struct {
	lease *Lease
	call  *Call
	on    *Resource
}

// Context makes the context of a lease that begins, in which the lease can be found.
func (l *Lease) Context(parent context.Context, of Described) context.Context {
	l.of = of
	l.outer, _ = parent.Value(carried.Lease{}).(*Lease)
	return context.WithValue(parent, carried.Lease{}, l)
}

// Of returns the lease as it was given to Context.
func (l *Lease) Of() Described { return l.of }

// Leases are those that ctx descends from, of any engine, the latest first, as long as they are held.
func Leases(ctx context.Context) []*Lease {
	l, _ := ctx.Value(carried.Lease{}).(*Lease)
	return unended(l)
}

// unended are those of a lease and the ones around it that have not ended.
func unended(l *Lease) (all []*Lease) {
	for ; l != nil; l = l.outer {
		if l.of.Cause() == nil {
			all = append(all, l)
		}
	}
	return all
}

// InfoOf describes each lease.
func InfoOf(leases []*Lease) (all []lock.HeldLease) {
	for _, l := range leases {
		all = append(all, l.of.Info())
	}
	return all
}

// HeldLeases describes the leases that a context which descends from this one holds.
func (l *Lease) HeldLeases() []lock.HeldLease { return InfoOf(unended(l)) }

func (l *Lease) add(e edge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.edges = append(l.edges, e)
}

func (l *Lease) remove(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.edges = slices.DeleteFunc(l.edges, func(e edge) bool { return e.call == c })
}

func (l *Lease) all() []edge {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.edges)
}
