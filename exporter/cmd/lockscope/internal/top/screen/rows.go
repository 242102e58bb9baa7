package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live/state"
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
func (s *Snapshot) Rows(o Order, filter string) (rows []*fleet.Row) {
	filter = strings.ToLower(filter)
	for i := range s.Sets {
		for r := range s.Sets[i].Resources {
			if row := &s.Sets[i].Resources[r]; contains(row, filter) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b *fleet.Row) int {
		return cmp.Or(cmp.Compare(o.weight(b), o.weight(a)), strings.Compare(a.Name, b.Name), strings.Compare(a.Set, b.Set))
	})
	return rows
}

// Find returns the row of a resource; nil if nobody waits for it any more.
func (s *Snapshot) Find(set, name string) *fleet.Row {
	for i := range s.Sets {
		for r := range s.Sets[i].Resources {
			if row := &s.Sets[i].Resources[r]; row.Set == set && row.Name == name {
				return row
			}
		}
	}
	return nil
}

// weight is 0 or more, or -1 for an election, whose candidates stand by.
func (o Order) weight(r *fleet.Row) float64 {
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
	return r.Weight()
}

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

func contains(r *fleet.Row, text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	if text == "" || has(r.Name) || has(r.Set) || r.Holder != nil && has(r.Holder.Hold.Instance) {
		return true
	}
	if slices.ContainsFunc(r.Taken, func(s fleet.HeldSlot) bool { return has(s.Hold.Instance) }) {
		return true
	}
	if slices.ContainsFunc(r.ReadBy, func(l listing.Lock) bool { return has(l.Hold.Instance) }) {
		return true
	}
	return slices.ContainsFunc(r.Waiters, func(w fleet.Process) bool { return has(w.Instance) })
}

// Quorum is how many nodes have to vote.
func (s *Set) Quorum() int { return len(s.Nodes)/2 + 1 }

// Count returns how many nodes have a state.
func (s *Set) Count(nodeState string) (n int) {
	for i := range s.Nodes {
		if s.Nodes[i].State == nodeState {
			n++
		}
	}
	return n
}

// Voting returns how many nodes vote.
func (s *Set) Voting() int { return s.Count(state.NodeUp) + s.Count(state.NodeShaky) }

// Decides reports whether enough nodes vote for locks to be acquired.
func (s *Set) Decides() bool { return s.Votes().Decide() }

// Stale reports whether the set was read longer ago than limit.
func (s *Set) Stale(now time.Time, limit time.Duration) bool { return now.Sub(s.Read) > limit }

// Votes are those of the nodes.
func (s *Set) Votes() fleet.Votes {
	if !s.Redlock {
		return fleet.Votes{Quorum: 1, Voting: s.Voting()}
	}
	return fleet.Votes{Quorum: s.Quorum(), Voting: s.Voting(), Quarantined: s.Count(state.NodeQuarantined)}
}

// Troubles are what must be seen first, one sentence each.
func (s *Snapshot) Troubles() (all []string) {
	for i := range s.Sets {
		set := &s.Sets[i]
		if text := set.noQuorum(); text != "" {
			all = append(all, text)
		}
		for _, d := range set.Deadlocks {
			all = append(all, "DEADLOCK"+in(set.Name)+d)
		}
	}
	return all
}

func in(set string) string { return " in " + set + ": " }

func (s *Set) noQuorum() string {
	if s.Decides() || len(s.Nodes) == 0 {
		return ""
	}
	if !s.Redlock {
		return "DOWN" + in(s.Name) + "it does not answer, so no lock is acquired there"
	}
	return fmt.Sprintf("NO QUORUM%s%d of %d nodes vote, %d needed: no lock is acquired or renewed",
		in(s.Name), s.Voting(), len(s.Nodes), s.Quorum())
}

// Sums counts what the rows of all sets say of calls that wait.
func (s *Snapshot) Sums() (callers, resources int, longest time.Duration) {
	for i := range s.Sets {
		resources += s.Sets[i].Omitted
		for _, r := range s.Sets[i].Resources {
			if r.StandsBy() {
				continue
			}
			callers, resources = callers+r.Callers, resources+1
			longest = max(longest, r.Longest)
		}
	}
	return callers, resources, longest
}

// Blocker is a holder that waits for nobody, and so keeps everybody behind it waiting.
type Blocker struct {
	Holder, Resource, Set string
	Callers               int // that wait for the resource, or for one whose holder waits for it in the end
}

// WorstBlocker returns the holder that keeps the most calls waiting; Callers is 0 if no holder is known.
func (s *Snapshot) WorstBlocker() (worst Blocker) {
	callers := make(map[Blocker]int)
	for i := range s.Sets {
		for _, r := range s.Sets[i].Resources {
			b := Blocker{Resource: r.Name, Set: r.Set}
			switch last := len(r.Chain) - 1; {
			case r.Deadlock || r.StandsBy() || r.Holder == nil || last >= 0 && r.Chain[last].AnySlot:
				continue // a deadlock has a line of its own, and a semaphore no single holder in the way
			case last >= 0:
				b.Holder, b.Resource = state.HolderName(r.Chain[last].Holder, false), r.Chain[last].Resource
			default:
				b.Holder = fleet.HolderName(r.Holder)
			}
			callers[b] += r.Callers
			if n := callers[b]; n > worst.Callers || n == worst.Callers && b.Resource < worst.Resource {
				worst = b
				worst.Callers = n
			}
		}
	}
	return worst
}
