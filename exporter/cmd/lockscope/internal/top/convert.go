package top

import (
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
			Set: set, Name: f.Resource, Callers: f.Waiting(), Processes: f.Processes, Longest: f.Longest(),
			Chain: chainOf(w, f.Resource), Deadlock: w.Stuck(f.Resource), Unlisted: max(0, f.Processes-len(f.Queue)),
		}
		addConstruct(&r, f)
		for _, q := range f.Queue {
			r.Waiters = append(r.Waiters, waiterOf(q.Says, f.Waited(q)))
		}
		all = append(all, r)
	}
	return all
}

// addConstruct says what the lock is part of, who holds it, or its slots, and whether somebody waits to write.
func addConstruct(r *screen.Resource, f *listing.WaitedFor) {
	of := f.Construct()
	r.Kind, r.Slots, r.InUse = of.Kind, of.Slots, -1
	r.Writers = f.Writers()
	if l := f.Lock; l != nil && l.Held() {
		r.Holder, r.Writing = l, l.Hold.Kind == lock.KindWrite
		if l.Readers != nil && (r.Kind == lock.KindRead || r.Kind == lock.KindWrite) {
			r.Readers, r.ReadBy = l.Readers.Count, l.ReadBy()
		}
	}
	if f.Slots != nil {
		r.InUse = len(f.Slots)
	}
	for _, slot := range f.Slots {
		r.Taken = append(r.Taken, screen.Slot{Lock: slot})
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
