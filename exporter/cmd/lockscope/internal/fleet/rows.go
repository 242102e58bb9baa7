package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Set is nodes whose queues were read together.
type Set struct {
	Name  string
	Waits *listing.Waits // nil: they were not read
	Votes Votes
}

// Row is a resource that somebody waits for.
type Row struct {
	Set       string // where it is: of nodes that are not read, what pages call them
	Name      string
	Callers   int
	Processes int
	Longest   time.Duration // wait
	Class     string        // why its callers wait: a locktrace.Wait; empty: unknown
	Holder    *listing.Lock // nil: none is known
	Chain     []Link        // what the holder waits for, and so on
	Deadlock  bool          // in a cycle, or behind one
	Waiters   []Process     // those in front
	Unlisted  int           // processes that are not in Waiters
	Rate      *float64      // leases that ended a second, as pages list them; nil: unknown
	HeldP99   *time.Duration
	OnlyPages bool // no node has a queue for it

	Kind  lock.Kind  // what it is part of; empty: a lock by itself, or unknown
	Slots int        // of the semaphore
	InUse int        // of those; negative: unknown
	Taken []HeldSlot // the slots of the semaphore that are held, as far as they were read

	Readers int            // that hold a read/write lock
	ReadBy  []listing.Lock // those that began first, of the readers that were read
	Writers int            // processes that wait to write, and keep later readers out
	Writing bool           // a writer holds it
}

// HeldSlot is a slot of a semaphore that is held.
type HeldSlot struct {
	listing.Lock
	WaitsFor string // the resource that its holder waits for; empty: none, or unknown
}

// Link leads from a holder to the resource that it waits for.
type Link struct {
	Resource string
	Holder   string        // of that; empty: unknown
	For      time.Duration // it has waited; zero: unknown
	AnySlot  bool          // the resource is a semaphore: no single holder is in the way
}

// Process is one that waits: its queue entry, and the calls that its page lists.
type Process struct {
	Instance, CallSite, Page, TraceID string

	Callers int
	Waited  time.Duration    // by the one that has waited longest; zero: unknown
	Class   string           // a locktrace.Wait; empty: unknown
	Holds   []lock.HeldLease // meanwhile
	Backend string           // what the process calls the nodes; empty: unknown
	OnNode  bool             // a node has it in its queue
	Calls   []Call           // that its page lists: Callers says of how many
}

// StandsBy reports whether the callers are candidates for an election: they do not wait.
func (r *Row) StandsBy() bool { return r.Kind == lock.KindElection }

// Weight orders rows: most waited for first, elections last.
func (r *Row) Weight() float64 {
	if r.StandsBy() {
		return -1
	}
	return float64(r.Callers) * r.Longest.Seconds()
}

// Number is that of the slot.
func (s *HeldSlot) Number() int {
	_, slot, _ := records.ParseSlot(s.Resource)
	return slot
}

// HolderName is what views call the holder.
func HolderName(l *listing.Lock) string { return state.HolderName(l.Hold.Instance, l.TTL < 0) }

// Holders are the processes that have the slots of a semaphore, or that read a read/write lock, each once.
func (r *Row) Holders() (names []string) {
	add := func(l *listing.Lock) {
		if name := HolderName(l); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range r.Taken {
		add(&r.Taken[i].Lock)
	}
	for i := range r.ReadBy {
		add(&r.ReadBy[i])
	}
	return names
}

// addRate adds what another page says of the resource; a page that says nothing adds nothing.
func (r *Row) addRate(rate *float64, p99 *time.Duration) {
	if r.Rate == nil || rate == nil {
		r.Rate = cmp.Or(r.Rate, rate)
	} else {
		r.Rate = new(*r.Rate + *rate)
	}
	if r.HeldP99 == nil || p99 != nil && *p99 > *r.HeldP99 {
		r.HeldP99 = p99
	}
}
