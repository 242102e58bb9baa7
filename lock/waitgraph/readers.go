package waitgraph

import (
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// is reports whether a process's lease is this one, or was handed over from it.
func (l *Lease) is(h lock.HeldLease, instance string) bool {
	return h.Backend == "" && instance == l.Holder.Instance && h.Fence >= l.Fence
}

func (l *Lease) reads() bool { return l.Holder.Kind == lock.KindRead }

// leaseOf returns the lease on the resource that a process names as its own; nil if there is none. Readers of one
// process may have one fence: who waits for the resource waits for all of them, so it does not matter which it is.
func (r *Resource) leaseOf(h lock.HeldLease, instance string) *Lease {
	if r == nil {
		return nil
	}
	if r.Lease != nil && r.Lease.is(h, instance) {
		return r.Lease
	}
	if i := slices.IndexFunc(r.Readers, func(l Lease) bool { return l.is(h, instance) }); i >= 0 {
		return &r.Readers[i]
	}
	return nil
}

// onlyRead reports whether readers hold the resource, and nobody waits to write. Then a reader does not wait for them.
func (r *Resource) onlyRead() bool {
	return r.Lease != nil && r.Lease.reads() && !slices.ContainsFunc(r.Waiters, func(w records.Waiting) bool { return w.Kind != lock.KindRead })
}

// join adds what another source knows of the holders. Readers stand beside each other. Of all else, the lease with the
// higher fence counts.
func (r *Resource) join(other *Resource) {
	was := r.Lease
	switch {
	case other.Lease == nil:
	case was == nil || other.Lease.Fence > was.Fence && !(was.reads() && other.Lease.reads()):
		r.Lease = other.Lease
	case was.reads() && other.Lease.reads():
		r.addReader(*other.Lease)
	}
	for _, l := range other.Readers {
		r.addReader(l)
	}
}

func (r *Resource) addReader(l Lease) {
	same := func(known Lease) bool { return known.Holder.Instance == l.Holder.Instance && known.Fence == l.Fence }
	switch {
	case r.Lease == nil:
		r.Lease = &l
		return
	case same(*r.Lease) || slices.ContainsFunc(r.Readers, same):
		return
	}
	r.Readers = append(r.Readers[:len(r.Readers):len(r.Readers)], l)
}
