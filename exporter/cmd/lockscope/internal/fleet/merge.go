package fleet

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Rows merges what the nodes and the pages report. A page adds to the process that published its address: which of its
// calls wait, and why. Calls that no node knows, because they have just begun or their node is down, are added as the
// page's own; calls on nodes that are not read get rows of their own. A page is up to [Every] old. So where the votes of
// a set are known and decide, its queues know more of the calls that a page says queue behind a holder.
//
// The slots of a semaphore are one row. Waits are as long as they were when the nodes, or the page, were read.
func Rows(sets []Set, pages []Page) []Row {
	m := &merger{sets: sets, pages: make(map[string]*Page), used: make(map[ofPage]bool),
		names: make(map[ofPage]string), called: make(map[string]bool), at: make(map[place]int)}
	for i := range pages {
		m.pages[pages[i].URL] = &pages[i]
	}
	for i := range sets {
		if w := sets[i].Waits; w != nil {
			for l := range w.Locks {
				m.fromNodes(&sets[i], &w.Locks[l])
			}
		}
	}
	for i := range pages {
		for _, c := range pages[i].Counts {
			if c.Waiting > 0 && !m.used[ofPage{pages[i].URL, c.Resource, c.Backend}] {
				m.rest(&pages[i], c)
			}
		}
	}
	for i := range pages {
		for _, t := range pages[i].Turnover {
			if at, known := m.at[m.placeOf(&pages[i], t.Resource, t.Backend)]; known {
				m.rows[at].addRate(&t.Rate, &t.HeldP99)
			}
		}
	}
	for i := range m.rows {
		m.classify(&m.rows[i])
	}
	return joinSlots(m.rows)
}

type merger struct {
	sets   []Set
	pages  map[string]*Page // by address
	used   map[ofPage]bool
	names  map[ofPage]string // sets, by the page of a process in their queues and what it calls them, without a resource
	called map[string]bool   // what processes in queues call sets
	rows   []Row
	at     map[place]int // of a row
}

// ofPage identifies what a page says about one resource.
type ofPage struct{ url, resource, backend string }

// place is a resource on a set. A page has names in printable form.
type place struct{ set, resource string }

// name notes what a process in a queue of the set calls it. Processes may call several sets by the default name, so
// this says nothing of other processes.
func (m *merger) name(set string, w *Process) {
	id := ofPage{url: w.Page, backend: w.Backend}
	if other, known := m.names[id]; known && other != set {
		set = w.Backend // either of them: nobody knows which
	}
	m.names[id], m.called[w.Backend] = set, true
}

// placeOf is the resource that a page means.
func (m *merger) placeOf(p *Page, resource, backend string) place {
	set, known := m.names[ofPage{url: p.URL, backend: backend}]
	switch {
	case known:
	case len(m.sets) == 1 && (backend == "" || m.called[backend]):
		set = m.sets[0].Name
	default:
		set = backend // the name of a set, or of nodes that are not read or not known
	}
	return place{set, inspect.KeyText(resource)}
}

// set is nil for nodes that are not read.
func (m *merger) set(name string) *Set {
	if at := slices.IndexFunc(m.sets, func(s Set) bool { return s.Name == name }); at >= 0 {
		return &m.sets[at]
	}
	return nil
}

func (m *merger) fromNodes(set *Set, f *listing.WaitedFor) {
	r := Row{Set: set.Name, Name: f.Resource, Processes: f.Processes, Unlisted: max(0, f.Processes-len(f.Queue)),
		Chain: chainOf(set.Waits, f.Resource), Deadlock: set.Waits.Stuck(f.Resource)}
	r.Callers, r.Waiters = r.Unlisted, make([]Process, 0, len(f.Queue))
	r.setConstruct(f)
	for _, q := range f.Queue {
		w := processOf(q, f.Waited(q))
		if w.Backend != "" {
			m.name(set.Name, &w)
		}
		m.ask(&w, f.Resource)
		r.add(w)
	}
	m.at[place{r.Set, inspect.KeyText(r.Name)}] = len(m.rows)
	m.rows = append(m.rows, r)
}

// ask adds what the waiter's page says. Of two processes with one page, the first gets it. How many callers there are
// the queue knows better.
func (m *merger) ask(w *Process, resource string) {
	id := ofPage{w.Page, resource, w.Backend}
	page := m.pages[w.Page]
	if page == nil || m.used[id] {
		return
	}
	m.used[id] = true
	says := page.process(resource, w.Backend)
	w.Class, w.Calls = says.Class, says.Calls
}

// rest adds calls that are in no queue.
func (m *merger) rest(p *Page, c Count) {
	w, at := p.process(c.Resource, c.Backend), m.placeOf(p, c.Resource, c.Backend)
	w.Callers = c.Waiting
	switch locktrace.Wait(w.Class) {
	case locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitBackingOff:
	default:
		if m.queuesKnow(at.set, c.Backend) {
			return
		}
	}
	if _, known := m.at[at]; !known {
		m.at[at] = len(m.rows)
		m.rows = append(m.rows, Row{Set: at.set, Name: c.Resource, OnlyPages: true, Kind: c.Kind, Slots: c.Slots, InUse: -1})
	}
	r := &m.rows[m.at[at]]
	r.add(w)
	r.Processes++
}

// queuesKnow reports whether a wait would be in a queue that was read. One that may be on any set would, unless one of
// them cannot tell.
func (m *merger) queuesKnow(name, backend string) bool {
	if set := m.set(name); set != nil {
		return set.Votes.Decide()
	}
	return m.called[backend] && !slices.ContainsFunc(m.sets, func(s Set) bool { return s.Votes.Class(false) != "" })
}

func (r *Row) add(w Process) {
	r.Waiters = append(r.Waiters, w)
	r.Callers, r.Longest = r.Callers+w.Callers, max(r.Longest, w.Waited)
}

// classify says why those wait who do not say it themselves, by the votes of the nodes.
func (m *merger) classify(r *Row) {
	set := m.set(r.Set)
	if set == nil {
		r.Class = r.Waiters[0].Class
		return
	}
	r.Class = string(set.Votes.Class(r.Holder != nil))
	for i := range r.Waiters {
		if w := &r.Waiters[i]; w.Class == "" {
			w.Class = r.Class
		}
	}
}

// setConstruct says what a lock is part of, who holds it, or its slots, and whether somebody waits to write.
func (r *Row) setConstruct(f *listing.WaitedFor) {
	of := f.Construct()
	r.Kind, r.Slots, r.InUse, r.Writers = of.Kind, of.Slots, -1, f.Writers()
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
		r.Taken = append(r.Taken, HeldSlot{Lock: slot})
	}
}

// maxChain is how many links of a chain are kept.
const maxChain = 16

// chainOf leads from a resource to what its holder waits for, and on.
func chainOf(w *listing.Waits, resource string) (chain []Link) {
	at := resource
	for _, next := range w.Graph.Chain(resource) {
		if len(chain) == maxChain {
			break
		}
		link := Link{Resource: next}
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

// processOf is a process in a queue, which says nothing until it has waited for a tenth of a second.
func processOf(q stored.Queued, waited time.Duration) Process {
	w := Process{Callers: 1, Waited: waited, OnNode: true}
	if says := q.Says; says != nil {
		w.Instance, w.CallSite, w.Page, w.TraceID = says.Instance, says.CallSite, says.Page, TraceID(says.Traceparent)
		w.Callers, w.Backend, w.Holds = max(1, says.Callers), says.Backend, says.Holds
	}
	return w
}

// process is the one that a page belongs to, as its calls that wait for a resource say.
func (p *Page) process(resource, backend string) Process {
	w := Process{Instance: p.Instance, Page: p.URL, Backend: backend}
	classes := make(map[string]int)
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Resource != resource || c.Backend != backend {
			continue
		}
		w.Calls = append(w.Calls, *c)
		if waited := bounded(c.For); waited >= w.Waited {
			w.Waited, w.CallSite, w.TraceID = waited, c.CallSite, c.TraceID
		}
		if knownClass(c.Class) {
			classes[c.Class]++
		}
	}
	for class, n := range classes {
		if n > classes[w.Class] || n == classes[w.Class] && class < w.Class {
			w.Class = class
		}
	}
	return w
}

// knownClass keeps a page from inventing one.
func knownClass(class string) bool {
	switch locktrace.Wait(class) {
	case locktrace.WaitHolder, locktrace.WaitNetwork, locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitBackingOff:
		return true
	}
	return false
}
