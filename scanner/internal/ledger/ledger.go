// Package ledger keeps the findings of a scanner from sweep to sweep.
package ledger

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/scanner/report"
)

// Ledger keeps findings from sweep to sweep, each once however often SCAN returns its key, and at most limit: the
// worst.
type Ledger struct {
	limit int

	mu       sync.Mutex
	entries  map[id]*Entry
	counts   map[report.Class]int            // of the entries
	overflow map[string]map[report.Class]int // findings of this sweep that had no place, by node
	resolved []report.Finding                // of this sweep
}

// New makes an empty ledger for up to limit findings.
func New(limit int) *Ledger {
	return &Ledger{
		limit: limit, entries: make(map[id]*Entry), counts: make(map[report.Class]int),
		overflow: make(map[string]map[report.Class]int),
	}
}

// Begin starts a sweep.
func (l *Ledger) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.overflow, l.resolved = make(map[string]map[report.Class]int), nil
	for _, f := range l.entries {
		f.noted = false
	}
}

// Note records what a page showed.
func (l *Ledger) Note(f Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := idOf(&f)
	old := l.entries[at]
	f.noted = true
	if old == nil && len(l.entries) >= l.limit && !l.makeRoom(&f) {
		l.omit(&f)
		return
	}
	if old != nil && old.Same(f.Identity) {
		f.FirstSeen, f.Confirmed = old.FirstSeen, old.Confirmed
		l.remove(old)
	} else if old != nil {
		l.resolve(old)
	}
	l.entries[at] = &f
	l.counts[f.Class]++
}

// makeRoom drops a finding of a milder class than f's, preferably an unconfirmed one, and reports whether there was
// one. A sweep does so at most limit times a class. The lock must be held.
func (l *Ledger) makeRoom(f *Entry) bool {
	order := report.Classes()
	for i := len(order) - 1; i > slices.Index(order, f.Class); i-- {
		if l.counts[order[i]] == 0 {
			continue
		}
		var least *Entry
		for _, e := range l.entries {
			if e.Class == order[i] && (least == nil || least.Confirmed && !e.Confirmed) {
				least = e
			}
		}
		if least.noted {
			l.omit(least)
		} // else it is counted if a page shows it
		l.remove(least)
		return true
	}
	return false
}

// omit counts a finding that is not kept. The lock must be held.
func (l *Ledger) omit(f *Entry) {
	if l.overflow[f.Node] == nil {
		l.overflow[f.Node] = make(map[report.Class]int)
	}
	l.overflow[f.Node][f.Class]++
}

// Omitted returns the findings of this sweep that were counted but not kept, by node.
func (l *Ledger) Omitted() map[string]map[report.Class]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]map[report.Class]int, len(l.overflow))
	for node, counts := range l.overflow {
		all[node] = maps.Clone(counts)
	}
	return all
}

// resolve requires that the lock is held.
func (l *Ledger) resolve(f *Entry) {
	if f.Confirmed {
		l.resolved = append(l.resolved, f.Sealed())
	}
	l.remove(f)
}

// remove requires that the lock is held, and that f is an entry.
func (l *Ledger) remove(f *Entry) {
	delete(l.entries, idOf(f))
	l.counts[f.Class]--
}

// On returns the findings of a node, by key.
func (l *Ledger) On(node string) []*Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*Entry
	for _, f := range l.entries {
		if f.Node == node {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *Entry) int { return report.Compare(&a.Finding, &b.Finding) })
	return found
}

// Rehome sets the node of each finding of a source that no page has shown; home returns "" if it is unknown.
func (l *Ledger) Rehome(source string, home func(f *Entry) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.entries {
		if f.Source != source || f.noted {
			continue
		}
		if node := home(f); node != "" {
			f.Node = node
		}
	}
}

// Settle applies the verdict of a second look, and reports whether it confirms f.
func (l *Ledger) Settle(f *Entry, seen Entry, still bool) (confirmed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !still {
		l.resolve(f)
		return false
	}
	confirmed = !f.Confirmed
	seen.FirstSeen, seen.Confirmed = f.FirstSeen, true
	*f = seen
	return confirmed
}

// Confirmed returns the ledger's own f, if there is one and it is confirmed.
func (l *Ledger) Confirmed(f *Entry) (own Entry, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[idOf(f)]
	if e == nil || !e.Confirmed || e.Node != f.Node || e.Identity != f.Identity {
		return Entry{}, false
	}
	return *e, true
}

// All returns copies of all entries, in no order.
func (l *Ledger) All() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Entry, 0, len(l.entries))
	for _, f := range l.entries {
		all = append(all, *f)
	}
	return all
}

// Lists returns copies of the findings: confirmed, pending, and resolved in this sweep.
func (l *Ledger) Lists() (confirmed, pending, resolved []report.Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.entries {
		if f.Confirmed {
			confirmed = append(confirmed, f.Sealed())
		} else {
			pending = append(pending, f.Sealed())
		}
	}
	resolved = slices.Clone(l.resolved)
	for _, list := range [][]report.Finding{confirmed, pending, resolved} {
		slices.SortFunc(list, func(a, b report.Finding) int { return report.Compare(&a, &b) })
	}
	return confirmed, pending, resolved
}

// Restore replaces the ledger by entries of an earlier process. They are looked at again before they are reported.
func (l *Ledger) Restore(from []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.entries)
	clear(l.counts)
	for _, f := range from {
		if len(l.entries) < l.limit && slices.Contains(report.Classes(), f.Class) {
			l.entries[idOf(&f)] = &f
			l.counts[f.Class]++
		}
	}
}
