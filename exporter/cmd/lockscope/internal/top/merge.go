package top

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/scanner/listing"
)

// merger adds to a snapshot what pages say: calls and their classes, rates, and waits that no node knows of.
type merger struct {
	snap  *screen.Snapshot
	pages []fleet.Page
	used  map[counted]bool
	names map[string]int // what processes call the nodes of a set, by the queues that they are in: index of the set
}

// counted identifies what a page says about one resource.
type counted struct{ page, resource, backend string }

func merge(snap *screen.Snapshot, pages []fleet.Page) {
	m := &merger{snap: snap, pages: pages, used: make(map[counted]bool), names: make(map[string]int)}
	for i := range snap.Sets {
		for r := range snap.Sets[i].Resources {
			m.waiters(i, &snap.Sets[i].Resources[r])
		}
	}
	for i := range pages {
		for _, c := range pages[i].Counts {
			if c.Waiting > 0 && !m.used[counted{pages[i].URL, c.Resource, c.Backend}] {
				m.rest(&pages[i], c)
			}
		}
		for _, t := range pages[i].Turnover {
			if r := m.row(t.Resource, t.Backend); r != nil {
				r.AddRate(&t.Rate, &t.HeldP99)
			}
		}
	}
}

// waiters adds why each waiter waits, as its page says. Of two processes with one page, the first gets it.
func (m *merger) waiters(set int, r *screen.Resource) {
	for i := range r.Waiters {
		w := &r.Waiters[i]
		if w.Backend != "" {
			m.names[w.Backend] = set
		}
		id := counted{w.Page, r.Name, w.Backend}
		page := m.page(w.Page)
		if page == nil || m.used[id] {
			continue
		}
		m.used[id] = true
		w.Class = waiterOn(page, r.Name, w.Backend).Class // its record is younger than its page: callers stay
	}
}

func (m *merger) page(url string) *fleet.Page {
	at := slices.IndexFunc(m.pages, func(p fleet.Page) bool { return p.URL == url })
	if url == "" || at < 0 {
		return nil
	}
	return &m.pages[at]
}

// waiterOn is what a page says of the calls that wait for a resource.
func waiterOn(p *fleet.Page, resource, backend string) screen.Waiter {
	w := screen.Waiter{Instance: p.Instance, Page: p.URL, Backend: backend}
	classes := make(map[string]int)
	for _, c := range p.CallsFor(resource, backend) {
		if waited := seconds(c.For); waited >= w.Waited {
			w.Waited, w.CallSite, w.TraceID = waited, c.CallSite, c.TraceID
		}
		if class := screen.KnownClass(c.Class); class != "" {
			classes[class]++
		}
	}
	for class, n := range classes {
		if n > classes[w.Class] || n == classes[w.Class] && class < w.Class {
			w.Class = class
		}
	}
	w.Callers = p.Waiting(resource, backend)
	return w
}

// rest adds calls that are in no queue, because their nodes do not answer or are not read. A page is up to ten seconds
// old: of calls that it says queue behind a holder, the queues know more.
func (m *merger) rest(p *fleet.Page, c fleet.Count) {
	w := waiterOn(p, c.Resource, c.Backend)
	r := m.row(c.Resource, c.Backend)
	at := m.setOf(c.Backend)
	if r != nil {
		at = slices.IndexFunc(m.snap.Sets, func(s screen.Set) bool { return s.Name == r.Set })
	}
	set := &m.snap.Sets[at]
	switch locktrace.Wait(w.Class) {
	case locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitBackingOff:
	default:
		if len(set.Nodes) > 0 && set.Decides() {
			return
		}
	}
	if r == nil {
		set.Resources = append(set.Resources, screen.Resource{
			Set: set.Name, Name: c.Resource, OnlyPages: true, Kind: c.Kind, Slots: c.Slots, InUse: -1})
		r = &set.Resources[len(set.Resources)-1]
	}
	r.Waiters = append(r.Waiters, w)
	r.Callers, r.Processes, r.Longest = r.Callers+w.Callers, r.Processes+1, max(r.Longest, w.Waited)
}

// row is the resource that a page means; nil if no row has it.
func (m *merger) row(resource, backend string) *screen.Resource {
	set, known := m.names[backend]
	for i := range m.snap.Sets {
		if known && i != set {
			continue
		}
		if at := slices.IndexFunc(m.snap.Sets[i].Resources, func(r screen.Resource) bool {
			return r.Name == resource
		}); at >= 0 {
			return &m.snap.Sets[i].Resources[at]
		}
	}
	return nil
}

// setOf is the set whose nodes a process calls so: as those do that queue there, or by the name of the set. What
// belongs to none gets a set without nodes.
func (m *merger) setOf(backend string) int {
	if set, known := m.names[backend]; known {
		return set
	}
	at := slices.IndexFunc(m.snap.Sets, func(s screen.Set) bool { return s.Name == backend })
	if at < 0 && len(m.snap.Sets) == 1 && backend == "" {
		at = 0
	}
	if at < 0 {
		at = len(m.snap.Sets)
		m.snap.Sets = append(m.snap.Sets, screen.Set{Name: backend, Read: m.snap.At})
	}
	m.names[backend] = at
	return at
}

// waitedFor are the resources that pages say somebody waits for.
func waitedFor(pages []fleet.Page) (names []string) {
	for i := range pages {
		for _, c := range pages[i].Counts {
			if c.Waiting > 0 && len(names) < maxSuggest && !slices.Contains(names, c.Resource) {
				names = append(names, c.Resource)
			}
		}
	}
	return names
}

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
	w.Holds = says.Holds
	return w
}
