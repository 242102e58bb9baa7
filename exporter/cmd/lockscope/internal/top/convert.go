package top

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// maxChain is how many links of a chain are shown.
const maxChain = 16

// resources are the rows of one set.
func resources(set string, w *listing.Waits) (all []screen.Resource) {
	for i := range w.Locks {
		f := &w.Locks[i]
		r := screen.Resource{
			Set: set, Name: f.Resource, Callers: f.Callers + max(0, f.Processes-len(f.Queue)), Processes: f.Processes,
			Longest: fleet.LongestWait(f), Holder: holderOf(f.Lock), Chain: chainOf(w, f.Resource),
			Deadlock: inCycle(w, f.Resource), Unlisted: max(0, f.Processes-len(f.Queue)),
		}
		addConstruct(&r, f)
		for _, q := range f.Queue {
			r.Waiters = append(r.Waiters, waiterOf(q.Says, fleet.Waited(q, f.At)))
		}
		all = append(all, r)
	}
	return all
}

// addConstruct says what the lock is part of, and who holds the slots of a semaphore.
func addConstruct(r *screen.Resource, f *listing.WaitedFor) {
	of := f.Construct()
	r.Kind, r.Slots, r.InUse = of.Kind, of.Slots, -1
	addReaders(r, f)
	if f.Slots == nil {
		return
	}
	r.InUse = len(f.Slots)
	for i := range f.Slots {
		r.Taken = append(r.Taken, screen.Slot{Name: f.Slots[i].Resource, Holder: *holderOf(&f.Slots[i])})
	}
}

// addReaders says who reads a read/write lock, and whether somebody waits to write.
func addReaders(r *screen.Resource, f *listing.WaitedFor) {
	r.Writers = f.Writers()
	if l := f.Lock; l != nil && l.Held() {
		r.Writing = l.Hold.Kind == lock.KindWrite
		if l.Readers != nil && (r.Kind == lock.KindRead || r.Kind == lock.KindWrite) {
			r.Readers = l.Readers.Count
			for _, reader := range l.Readers.First {
				one := *l
				one.Hold, one.TTL, one.Nodes = reader.Hold, reader.TTL, reader.Nodes
				r.ReadBy = append(r.ReadBy, *holderOf(&one))
			}
		}
	}
}

func holderOf(l *listing.Lock) *screen.Holder {
	if l == nil || !l.Held() {
		return nil
	}
	h := l.Hold
	return &screen.Holder{
		Instance: h.Instance, CallSite: h.CallSite, Page: h.Page, TraceID: fleet.TraceID(h.Traceparent), Reason: h.Reason,
		Held: fleet.HeldFor(l), Left: l.TTL, TTL: l.TTL != 0, Nodes: l.Nodes, Of: l.Of + l.Silent, Fence: h.Fence,
	}
}

// chainOf leads from a resource to what its holder waits for, and on.
func chainOf(w *listing.Waits, resource string) (chain []screen.Link) {
	at := resource
	for _, next := range w.Graph.Chain(resource) {
		if len(chain) == maxChain {
			break
		}
		link := screen.Link{Resource: next}
		if r := w.Graph.Resource(next); r != nil && r.Lease != nil {
			link.Holder = r.Lease.Holder.Instance
		}
		if waiter, ok := w.Graph.Waiter(at, next); ok && !waiter.Since.IsZero() {
			link.For = max(0, w.At.Sub(waiter.Since))
		}
		chain = append(chain, link)
		at = next
	}
	return chain
}

// inCycle reports whether a resource is in a deadlock, or its chain ends in one.
func inCycle(w *listing.Waits, resource string) bool {
	names := append(w.Graph.Chain(resource), resource)
	return w.Graph.Stuck(resource) && slices.ContainsFunc(w.Deadlocks, func(d lock.DeadlockError) bool {
		return slices.ContainsFunc(d.Cycle, func(h lock.HeldLease) bool { return slices.Contains(names, h.Resource) })
	})
}

// waiterOf is a process in a queue; says is nil until it has waited for a tenth of a second.
func waiterOf(says *records.Waiting, waited time.Duration) screen.Waiter {
	w := screen.Waiter{Callers: 1, Waited: waited}
	if says == nil {
		return w
	}
	w.Instance, w.CallSite, w.Page, w.TraceID = says.Instance, says.CallSite, says.Page, fleet.TraceID(says.Traceparent)
	w.Callers, w.Backend = max(1, says.Callers), says.Backend
	for _, h := range says.Holds {
		name := h.Resource
		if h.Backend != "" {
			name += " (" + h.Backend + ")"
		}
		w.Holds = append(w.Holds, name)
	}
	return w
}
