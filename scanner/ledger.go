package scanner

import (
	"maps"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/scanner/report"
)

// ledger keeps findings from sweep to sweep, each once however often SCAN returns
// its key, and no more than limit: the worst.
type ledger struct {
	limit int

	mu       sync.Mutex
	entries  map[findingID]*entry
	counts   map[Class]int            // of the entries
	overflow map[string]map[Class]int // findings of this sweep that had no place, by node
	resolved []Finding                // of this sweep
}

// findingID has no node: a key of a cluster is the same one when it has moved.
type findingID struct {
	source string
	key    string
	class  Class
}

func idOf(f *entry) findingID { return findingID{f.Source, f.Key, f.Class} }

func newLedger(limit int) *ledger {
	return &ledger{
		limit: limit, entries: make(map[findingID]*entry), counts: make(map[Class]int), overflow: make(map[string]map[Class]int),
	}
}

// begin starts a sweep.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.overflow, l.resolved = make(map[string]map[Class]int), nil
	for _, f := range l.entries {
		f.noted = false
	}
}

// note takes what a page showed.
func (l *ledger) note(f entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := idOf(&f)
	old := l.entries[id]
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
	l.entries[id] = &f
	l.counts[f.Class]++
}

// makeRoom gives up a finding of a milder class than f's, one not confirmed if there is
// one, and says whether there was any. A sweep does so at most limit times a class. It
// expects the lock to be held.
func (l *ledger) makeRoom(f *entry) bool {
	order := report.Classes()
	for i := len(order) - 1; i > slices.Index(order, f.Class); i-- {
		if l.counts[order[i]] == 0 {
			continue
		}
		var least *entry
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

// omit counts a finding that is not kept. It expects the lock to be held.
func (l *ledger) omit(f *entry) {
	if l.overflow[f.Node] == nil {
		l.overflow[f.Node] = make(map[Class]int)
	}
	l.overflow[f.Node][f.Class]++
}

// omitted are the findings of this sweep that were counted and not kept, by node.
func (l *ledger) omitted() map[string]map[Class]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]map[Class]int, len(l.overflow))
	for node, counts := range l.overflow {
		all[node] = maps.Clone(counts)
	}
	return all
}

// resolve expects the lock to be held.
func (l *ledger) resolve(f *entry) {
	if f.Confirmed {
		l.resolved = append(l.resolved, f.finding())
	}
	l.remove(f)
}

// remove expects the lock to be held, and f to be an entry.
func (l *ledger) remove(f *entry) {
	delete(l.entries, idOf(f))
	l.counts[f.Class]--
}

// on returns the findings of a node, by key.
func (l *ledger) on(node string) []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*entry
	for _, f := range l.entries {
		if f.Node == node {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *entry) int { return report.Compare(&a.Finding, &b.Finding) })
	return found
}

// rehome says of each finding of a source that no page has shown which node has its key
// now; home is "" if that is unknown.
func (l *ledger) rehome(source string, home func(f *entry) string) {
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

// settle takes the verdict of a second look, and says whether it confirms f.
func (l *ledger) settle(f *entry, seen entry, still bool) (confirmed bool) {
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

// confirmed returns the ledger's own f, if there is one and it is confirmed.
func (l *ledger) confirmed(f *entry) (own entry, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[idOf(f)]
	if e == nil || !e.Confirmed || e.Node != f.Node || e.Identity != f.Identity {
		return entry{}, false
	}
	return *e, true
}

// all returns copies of all entries, in no order.
func (l *ledger) all() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]entry, 0, len(l.entries))
	for _, f := range l.entries {
		all = append(all, *f)
	}
	return all
}

// lists returns copies of the findings: confirmed ones, pending ones, and those
// resolved in this sweep.
func (l *ledger) lists() (confirmed, pending, resolved []Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.entries {
		if f.Confirmed {
			confirmed = append(confirmed, f.finding())
		} else {
			pending = append(pending, f.finding())
		}
	}
	resolved = slices.Clone(l.resolved)
	for _, list := range [][]Finding{confirmed, pending, resolved} {
		slices.SortFunc(list, func(a, b Finding) int { return report.Compare(&a, &b) })
	}
	return confirmed, pending, resolved
}
