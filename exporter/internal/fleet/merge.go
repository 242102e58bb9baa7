package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// Published are the pages that holders and waiters say they have, those of waiters first.
func Published(l scanner.Listing) (pages []string) {
	add := func(page string) {
		if page != "" {
			pages = append(pages, page)
		}
	}
	if l.Waits != nil {
		for _, w := range l.Waits.Locks {
			for _, q := range w.Queue {
				if q.Says != nil {
					add(q.Says.Page)
				}
			}
			if w.Lock != nil {
				add(w.Lock.Hold.Page)
			}
		}
	}
	for _, k := range l.Locks {
		add(k.Hold.Page)
	}
	return pages
}

// Merge makes one document of what the nodes and the pages tell. A page adds to the
// process that published its address: where each of its calls waits. Calls of which no
// node has heard, for they have just begun or their node is down, are added as its own.
func Merge(waits *scanner.Waits, pages []Page, now time.Time) Document {
	d := Document{Schema: 1, At: now.UTC(), Deadlocks: []string{}, Resources: []Resource{}, Pages: readsOf(pages, now)}
	m := merger{pages: pages, used: make(map[ofPage]bool), now: now}
	if waits != nil {
		for _, w := range waits.Deadlocks {
			d.Deadlocks = append(d.Deadlocks, w.String())
		}
		for i := range waits.Locks {
			d.Resources = append(d.Resources, m.fromNodes(waits, &waits.Locks[i]))
		}
	}
	m.addRest(&d)
	slices.SortStableFunc(d.Resources, func(a, b Resource) int {
		return cmp.Compare(float64(b.Waiting)*b.Longest, float64(a.Waiting)*a.Longest)
	})
	return d
}

type merger struct {
	pages []Page
	used  map[ofPage]bool
	now   time.Time
}

// ofPage is what a page says of one resource.
type ofPage struct{ url, resource string }

func (m *merger) fromNodes(waits *scanner.Waits, f *scanner.WaitedFor) Resource {
	r := Resource{
		Resource: scanner.KeyText(f.Resource), Processes: f.Processes, Waiting: max(0, f.Processes-len(f.Queue)),
		Holder: holderOf(f.Lock), Chain: waits.Graph.Chain(f.Resource), Waiters: []Waiter{},
	}
	for _, q := range f.Queue {
		w := Waiter{Callers: 1, Waited: max(0, m.now.Sub(q.Since)).Seconds(), OnNode: true}
		if says := q.Says; says != nil {
			w.Instance, w.Callers, w.CallSite, w.TraceID = says.Instance, max(1, says.Callers), says.CallSite, TraceID(says.Traceparent)
			w.Holds, w.Page, w.Waited = says.Holds, says.Page, max(0, m.now.Sub(says.Since)).Seconds()
			m.ask(&w, f.Resource)
		}
		r.add(w)
	}
	return r
}

// ask adds what the waiter's page says. Of two processes with one page, the first gets it.
func (m *merger) ask(w *Waiter, resource string) {
	at, known := slices.BinarySearchFunc(m.pages, w.Page, func(p Page, url string) int { return strings.Compare(p.URL, url) })
	id := ofPage{w.Page, resource}
	if !known || m.used[id] {
		return
	}
	m.used[id] = true
	p := &m.pages[at]
	w.Calls = p.callsFor(resource)
	w.Callers = max(w.Callers, p.count(resource))
}

// addRest adds the calls that no queue has.
func (m *merger) addRest(d *Document) {
	at := make(map[string]int)
	for i, r := range d.Resources {
		at[r.Resource] = i
	}
	for i := range m.pages {
		p := &m.pages[i]
		for _, c := range p.Counts {
			if m.used[ofPage{p.URL, c.Resource}] || c.Waiting == 0 {
				continue
			}
			name := scanner.KeyText(c.Resource)
			if _, known := at[name]; !known {
				at[name] = len(d.Resources)
				d.Resources = append(d.Resources, Resource{Resource: name, Waiters: []Waiter{}, OnlyPages: true})
			}
			r := &d.Resources[at[name]]
			w := Waiter{Instance: p.Instance, Callers: c.Waiting, Page: p.URL, Calls: p.callsFor(c.Resource)}
			for _, call := range w.Calls {
				w.Waited = max(w.Waited, call.For)
			}
			r.add(w)
			r.Processes++
		}
	}
}

func (r *Resource) add(w Waiter) {
	r.Waiters = append(r.Waiters, w)
	r.Waiting += w.Callers
	r.Longest = max(r.Longest, w.Waited)
}

func (p *Page) callsFor(resource string) (calls []Call) {
	for _, c := range p.Calls {
		if c.Resource == resource {
			calls = append(calls, c)
		}
	}
	return calls
}

func (p *Page) count(resource string) int {
	for _, c := range p.Counts {
		if c.Resource == resource {
			return c.Waiting
		}
	}
	return 0
}

// TraceID is the trace of a W3C traceparent; "" if it has none.
func TraceID(traceparent string) string {
	if parts := strings.Split(traceparent, "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return ""
}
