package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Merge combines what the nodes and the pages report into one document. A page adds to the process that published its
// address: where each of its calls waits. Calls unknown to the nodes, because they have just begun or their node is
// down, are added as the page's own. Waits are as long as they were when the nodes, or the page, were read: see
// Document.Read and Read.Read.
func Merge(waits *listing.Waits, pages []Page, now time.Time) Document {
	d := Document{Schema: 1, At: now.UTC(), Deadlocks: []string{}, Resources: []Resource{}, Pages: readsOf(pages, now)}
	m := merger{pages: pages, used: make(map[ofPage]bool), names: make(map[string]bool)}
	if waits != nil {
		d.Read = ago(waits.At, now)
		d.Deadlocks = append(d.Deadlocks, Deadlocks(waits)...)
		for i := range waits.Locks {
			d.Resources = append(d.Resources, m.fromNodes(waits, &waits.Locks[i]))
		}
	}
	m.addRest(&d)
	d.Resources = joinSlots(d.Resources)
	slices.SortStableFunc(d.Resources, func(a, b Resource) int {
		return cmp.Compare(b.weight(), a.weight())
	})
	return d
}

// weight orders resources: most waited for first, elections last. Their candidates stand by.
func (r *Resource) weight() float64 {
	if r.Kind == lock.KindElection {
		return -1
	}
	return float64(r.Waiting) * r.Longest
}

type merger struct {
	pages []Page
	used  map[ofPage]bool
	names map[string]bool // backends of the nodes that are read, as their waiters name them
}

// ofPage identifies what a page says about one resource.
type ofPage struct{ url, resource, backend string }

func (m *merger) fromNodes(waits *listing.Waits, f *listing.WaitedFor) Resource {
	r := Resource{
		Resource: inspect.KeyText(f.Resource), Processes: f.Processes, Waiting: max(0, f.Processes-len(f.Queue)),
		Holder: holderOf(f.Lock), Chain: waits.Graph.Chain(f.Resource), Waiters: []Waiter{},
	}
	r.setConstruct(f)
	for _, q := range f.Queue {
		w := Waiter{Callers: 1, Waited: f.Waited(q).Seconds(), OnNode: true}
		if says := q.Says; says != nil {
			w.Instance, w.Callers, w.CallSite, w.TraceID = says.Instance, max(1, says.Callers), says.CallSite,
				TraceID(says.Traceparent)
			w.Holds, w.Page = says.Holds, says.Page
			if says.Backend != "" {
				m.names[says.Backend] = true
			}
			m.ask(&w, f.Resource, says.Backend)
		}
		r.add(w)
	}
	return r
}

// ask adds what the waiter's page lists. Of two processes with one page, the first gets it.
func (m *merger) ask(w *Waiter, resource, backend string) {
	at, known := slices.BinarySearchFunc(m.pages, w.Page,
		func(p Page, url string) int { return strings.Compare(p.URL, url) })
	id := ofPage{w.Page, resource, backend}
	if !known || m.used[id] {
		return
	}
	m.used[id] = true
	p := &m.pages[at]
	w.Calls = p.CallsFor(resource, backend)
	w.Callers = max(w.Callers, p.Waiting(resource, backend))
}

// addRest adds the calls that no queue has. Calls on nodes that are not read get their own rows.
func (m *merger) addRest(d *Document) {
	type row struct{ resource, backend string }
	at := make(map[row]int)
	for i, r := range d.Resources {
		at[row{resource: r.Resource}] = i
	}
	for i := range m.pages {
		p := &m.pages[i]
		for _, c := range p.Counts {
			if m.used[ofPage{p.URL, c.Resource, c.Backend}] || c.Waiting == 0 {
				continue
			}
			of := row{inspect.KeyText(c.Resource), c.Backend}
			if m.isRead(c.Backend) {
				of.backend = ""
			}
			if _, known := at[of]; !known {
				at[of] = len(d.Resources)
				d.Resources = append(d.Resources, Resource{Resource: of.resource, Backend: of.backend,
					Waiters: []Waiter{}, OnlyPages: true, Kind: c.Kind, Slots: c.Slots})
			}
			r := &d.Resources[at[of]]
			w := Waiter{Instance: p.Instance, Callers: c.Waiting, Page: p.URL, Calls: p.CallsFor(c.Resource, c.Backend)}
			for _, call := range w.Calls {
				w.Waited = max(w.Waited, call.For)
			}
			r.add(w)
			r.Processes++
		}
	}
}

// isRead reports whether the nodes of this backend are read, too. Before any node has named its backend, the
// answer is yes for "redis", the default.
func (m *merger) isRead(backend string) bool {
	return m.names[backend] || len(m.names) == 0 && backend == "redis"
}

func (r *Resource) add(w Waiter) {
	r.Waiters = append(r.Waiters, w)
	r.Waiting += w.Callers
	r.Longest = max(r.Longest, w.Waited)
}

// CallsFor returns the calls that the page lists and that wait for a resource.
func (p *Page) CallsFor(resource, backend string) (calls []Call) {
	for _, c := range p.Calls {
		if c.Resource == resource && c.Backend == backend {
			calls = append(calls, c)
		}
	}
	return calls
}

// Waiting returns how many calls wait for a resource, listed or not.
func (p *Page) Waiting(resource, backend string) int {
	for _, c := range p.Counts {
		if c.Resource == resource && c.Backend == backend {
			return c.Waiting
		}
	}
	return 0
}

// Handler serves documents as JSON, a new one for each request.
func Handler(document func(context.Context) Document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "read-only: use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		body, err := json.Marshal(document(r.Context()))
		if err != nil {
			http.Error(w, "cannot encode the document as JSON", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(append(body, '\n')) // the client has gone: nobody to tell
	})
}
