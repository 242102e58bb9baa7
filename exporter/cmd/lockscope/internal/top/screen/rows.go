package screen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Order is what rows are sorted by.
type Order int

// The orders, in the order in which a key cycles through them.
const (
	ByWaiting Order = iota // callers times the longest wait: the default
	ByLongest
	ByCallers
	ByName
	orders
)

// Next is the order after this one.
func (o Order) Next() Order { return (o + 1) % orders }

// String is the order as the header shows it.
func (o Order) String() string {
	return [...]string{"callers x wait", "longest wait", "callers", "name"}[o]
}

// Rows are the resources of all sets whose name, holder or waiters contain a text, in order. Case does not matter.
func (s *Snapshot) Rows(o Order, filter string) (rows []*Resource) {
	filter = strings.ToLower(filter)
	for i := range s.Sets {
		for r := range s.Sets[i].Resources {
			if row := &s.Sets[i].Resources[r]; row.contains(filter) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b *Resource) int {
		return cmp.Or(o.compare(a, b), strings.Compare(a.Name, b.Name), strings.Compare(a.Set, b.Set))
	})
	return rows
}

// Find returns the row of a resource; nil if nobody waits for it any more.
func (s *Snapshot) Find(set, name string) *Resource {
	for i := range s.Sets {
		for r := range s.Sets[i].Resources {
			if row := &s.Sets[i].Resources[r]; row.Set == set && row.Name == name {
				return row
			}
		}
	}
	return nil
}

func (o Order) compare(a, b *Resource) int { return cmp.Compare(o.weight(b), o.weight(a)) }

// weight is 0 or more, or -1 for an election, whose candidates stand by.
func (o Order) weight(r *Resource) float64 {
	switch {
	case o == ByName:
		return 0
	case r.StandsBy():
		return -1
	case o == ByLongest:
		return r.Longest.Seconds()
	case o == ByCallers:
		return float64(r.Callers)
	}
	return float64(r.Callers) * r.Longest.Seconds()
}

// StandsBy reports whether the callers are candidates for an election: they do not wait.
func (r *Resource) StandsBy() bool { return r.Kind == lock.KindElection }

// Candidates is how many stand by.
func (s *Snapshot) Candidates() (n int) {
	for i := range s.Sets {
		for _, r := range s.Sets[i].Resources {
			if r.StandsBy() {
				n += r.Callers
			}
		}
	}
	return n
}

func (r *Resource) contains(text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	if text == "" || has(r.Name) || has(r.Set) || r.Holder != nil && has(r.Holder.Hold.Instance) {
		return true
	}
	if slices.ContainsFunc(r.Taken, func(s Slot) bool { return has(s.Hold.Instance) }) {
		return true
	}
	if slices.ContainsFunc(r.ReadBy, func(l listing.Lock) bool { return has(l.Hold.Instance) }) {
		return true
	}
	return slices.ContainsFunc(r.Waiters, func(w Waiter) bool { return has(w.Instance) })
}
