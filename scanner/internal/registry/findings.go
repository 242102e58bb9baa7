package registry

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// Findings keeps findings from sweep to sweep, each once however often SCAN returns its key, and at most limit: the
// worst.
type Findings struct {
	limit int

	mu       sync.Mutex
	entries  map[id]*Entry
	counts   map[inspect.Class]int            // of the entries
	overflow map[string]map[inspect.Class]int // findings of this sweep that had no place, by node
	resolved []report.Finding                 // of this sweep
}

// New makes an empty registry for up to limit findings.
func New(limit int) *Findings {
	return &Findings{
		limit: limit, entries: make(map[id]*Entry), counts: make(map[inspect.Class]int),
		overflow: make(map[string]map[inspect.Class]int),
	}
}

// Begin starts a sweep.
func (r *Findings) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.overflow, r.resolved = make(map[string]map[inspect.Class]int), nil
	for _, f := range r.entries {
		f.noted = false
	}
}

// Note records what a page showed.
func (r *Findings) Note(f Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := idOf(&f)
	old := r.entries[at]
	f.noted = true
	if old == nil && len(r.entries) >= r.limit && !r.makeRoom(&f) {
		r.omit(&f)
		return
	}
	if old != nil && old.Same(f.Identity) {
		f.FirstSeen, f.Confirmed = old.FirstSeen, old.Confirmed
		r.remove(old)
	} else if old != nil {
		r.resolve(old)
	}
	r.entries[at] = &f
	r.counts[f.Class]++
}

// makeRoom drops a finding of a milder class than f's, preferably an unconfirmed one, and reports whether there was
// one. A sweep does so at most limit times a class. The lock must be held.
func (r *Findings) makeRoom(f *Entry) bool {
	order := inspect.Classes()
	for i := len(order) - 1; i > slices.Index(order, f.Class); i-- {
		if r.counts[order[i]] == 0 {
			continue
		}
		var least *Entry
		for _, e := range r.entries {
			if e.Class == order[i] && (least == nil || least.Confirmed && !e.Confirmed) {
				least = e
			}
		}
		if least.noted {
			r.omit(least)
		} // else it is counted if a page shows it
		r.remove(least)
		return true
	}
	return false
}

// omit counts a finding that is not kept. The lock must be held.
func (r *Findings) omit(f *Entry) {
	if r.overflow[f.Node] == nil {
		r.overflow[f.Node] = make(map[inspect.Class]int)
	}
	r.overflow[f.Node][f.Class]++
}

// Omitted returns the findings of this sweep that were counted but not kept, by node.
func (r *Findings) Omitted() map[string]map[inspect.Class]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string]map[inspect.Class]int, len(r.overflow))
	for node, counts := range r.overflow {
		all[node] = maps.Clone(counts)
	}
	return all
}

// resolve requires that the lock is held.
func (r *Findings) resolve(f *Entry) {
	if f.Confirmed {
		r.resolved = append(r.resolved, f.Sealed())
	}
	r.remove(f)
}

// remove requires that the lock is held, and that f is an entry.
func (r *Findings) remove(f *Entry) {
	delete(r.entries, idOf(f))
	r.counts[f.Class]--
}

// On returns the findings of a node, by key.
func (r *Findings) On(node string) []*Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*Entry
	for _, f := range r.entries {
		if f.Node == node {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *Entry) int { return report.Compare(&a.Finding, &b.Finding) })
	return found
}

// Rehome sets the node of each finding of a source that no page has shown; home returns "" if it is unknown.
func (r *Findings) Rehome(source string, home func(f *Entry) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.entries {
		if f.Source != source || f.noted {
			continue
		}
		if node := home(f); node != "" {
			f.Node = node
		}
	}
}

// Settle applies the verdict of a second look, and reports whether it confirms f.
func (r *Findings) Settle(f *Entry, seen Entry, still bool) (confirmed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !still {
		r.resolve(f)
		return false
	}
	confirmed = !f.Confirmed
	seen.FirstSeen, seen.Confirmed = f.FirstSeen, true
	*f = seen
	return confirmed
}

// Confirmed returns the registry's own f, if there is one and it is confirmed.
func (r *Findings) Confirmed(f *Entry) (own Entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[idOf(f)]
	if e == nil || !e.Confirmed || e.Node != f.Node || e.Identity != f.Identity {
		return Entry{}, false
	}
	return *e, true
}

// All returns copies of all entries, in no order.
func (r *Findings) All() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Entry, 0, len(r.entries))
	for _, f := range r.entries {
		all = append(all, *f)
	}
	return all
}

// Lists returns copies of the findings: confirmed, pending, and resolved in this sweep.
func (r *Findings) Lists() (confirmed, pending, resolved []report.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.entries {
		if f.Confirmed {
			confirmed = append(confirmed, f.Sealed())
		} else {
			pending = append(pending, f.Sealed())
		}
	}
	resolved = slices.Clone(r.resolved)
	for _, list := range [][]report.Finding{confirmed, pending, resolved} {
		slices.SortFunc(list, func(a, b report.Finding) int { return report.Compare(&a, &b) })
	}
	return confirmed, pending, resolved
}

// Restore replaces the registry by entries of an earlier process. They are looked at again before they are reported.
func (r *Findings) Restore(from []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.entries)
	clear(r.counts)
	for _, f := range from {
		if len(r.entries) < r.limit && slices.Contains(inspect.Classes(), f.Class) {
			r.entries[idOf(&f)] = &f
			r.counts[f.Class]++
		}
	}
}
