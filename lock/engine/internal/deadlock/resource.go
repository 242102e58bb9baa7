package deadlock

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Resource is a node of the graph: calls wait for it, and leases of this process may hold it. They are one, or any
// number of readers.
type Resource struct {
	holder atomic.Pointer[Lease] // the one that does not read

	mu      sync.Mutex
	readers []*Lease
}

// Holder is the lease of this process that holds the resource alone; nil if none is known.
func (r *Resource) Holder() *Lease { return r.holder.Load() }

// HeldBy notes a holder of the resource, beside others if it reads.
func (r *Resource) HeldBy(l *Lease, reads bool) {
	if l.reads = reads; !reads {
		r.holder.Store(l)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers = append(r.readers, l)
}

// NotHeldBy takes a holder out. It does nothing if another one has taken its place.
func (r *Resource) NotHeldBy(l *Lease) {
	if !l.reads {
		r.holder.CompareAndSwap(l, nil)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers = slices.DeleteFunc(r.readers, func(other *Lease) bool { return other == l })
}

// holders are the leases that hold the resource now. A call that waits for it waits for all of them.
func (r *Resource) holders() (all []*Lease) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	all = slices.Clone(r.readers)
	r.mu.Unlock()
	if alone := r.holder.Load(); alone != nil {
		all = append(all, alone)
	}
	return slices.DeleteFunc(all, func(l *Lease) bool { return l.of.Cause() != nil })
}
