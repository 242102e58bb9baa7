package screen

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Snapshot is one reading of all sets of nodes and of the pages.
type Snapshot struct {
	At    time.Time // when it was taken; ages count from here
	Sets  []Set
	Pages Pages
}

// Set is nodes that decide together: of one Redlock, of a cluster, or one other system.
type Set struct {
	Name      string // of the group; the system where there is none
	Redlock   bool   // a quorum of its nodes decides
	Read      time.Time
	Err       string // why its locks and queues, or some of them, are unknown
	Nodes     []Node
	Resources []Resource // that somebody waits for
	Deadlocks []string
	Omitted   int // further resources with waiters, which are not in Resources
	Scan      Scan
}

// Node is the state of a node, as lockscope sees it.
type Node struct {
	Name     string
	State    string        // one of the NodeState constants of package state
	Answered time.Time     // last; zero: never
	Latency  time.Duration // of the last answer
	Slowest  time.Duration // of the last answers
	Why      string        // it is not up, or what is odd about it
}

// Scan is how much of the keys was searched for queues. Each refresh searches some more.
type Scan struct {
	Keys     int64         // on the node with the most, roughly
	Done     float64       // share of the pass under way, on the node that is furthest behind
	Last     time.Time     // when the last whole pass of the slowest node ended; zero: none has
	PassTime time.Duration // how long such a pass takes, about; zero: unknown
}

// Whole reports whether all keys were searched at least once.
func (s *Scan) Whole() bool { return !s.Last.IsZero() }

// Resource is a resource that somebody waits for.
type Resource struct {
	Set       string // where it is
	Name      string
	Callers   int
	Processes int
	Longest   time.Duration // wait
	Class     string        // why its callers wait: a locktrace.Wait; empty: unknown
	Holder    *listing.Lock // nil: none is known
	Chain     []Link        // what the holder waits for, and so on
	Deadlock  bool          // in a cycle, or behind one
	Waiters   []Waiter      // those in front
	Unlisted  int           // processes that are not in Waiters
	Rate      *float64      // leases that ended a second, as pages list them; nil: unknown
	HeldP99   *time.Duration
	OnlyPages bool // no node has a queue for it

	Kind  lock.Kind // what it is part of; empty: a lock by itself, or unknown
	Slots int       // of the semaphore
	InUse int       // of those; negative: unknown
	Taken []Slot    // the slots of the semaphore that are held, as far as they were read

	Readers int            // that hold a read/write lock
	ReadBy  []listing.Lock // those that began first, of the readers that were read
	Writers int            // processes that wait to write, and keep later readers out
	Writing bool           // a writer holds it
}

// Slot is a slot of a semaphore that is held.
type Slot struct {
	listing.Lock
	WaitsFor string // the resource that its holder waits for; empty: none, or unknown
}

// nameOf is what views call the holder.
func nameOf(l *listing.Lock) string { return state.HolderName(l.Hold.Instance, l.TTL < 0) }

// Link leads from a holder to the resource that it waits for.
type Link struct {
	Resource string
	Holder   string        // of that; empty: unknown
	For      time.Duration // it has waited; zero: unknown
	AnySlot  bool          // the resource is a semaphore: no single holder is in the way
}

// Waiter is a process that waits.
type Waiter struct {
	Instance, CallSite, Page, TraceID string

	Callers int
	Waited  time.Duration    // by the one that has waited longest; zero: unknown
	Class   string           // a locktrace.Wait; empty: unknown
	Holds   []lock.HeldLease // meanwhile
	Backend string           // what the process calls the nodes; empty: unknown
}

// Pages is what pages of processes add: rates and tails, which no node knows.
type Pages struct {
	Known    int      // addresses that flags, holders and waiters name
	Answered int      // pages that were read, of those
	Hosts    []string // that no flag allows to read, the first few
	Recent   *Recent  // nil: no page was read
}

// Recent are the Acquire calls of the last minute, over all pages.
type Recent struct {
	Acquired, Failed float64 // a second
	P99              time.Duration
}

// JoinSlots makes one row of the slots of each semaphore, which stands where its first slot stood. Callers are in the
// queue of one slot and go on with the first that is free, so no single holder is in their way. Classify comes first.
func (s *Set) JoinSlots() {
	at, semaphoreOf := make(map[string]int), make(map[string]string)
	for i := range s.Resources {
		if name, ok := records.SemaphoreOf(s.Resources[i].Name); ok && s.Resources[i].Kind == lock.KindSemaphore {
			semaphoreOf[s.Resources[i].Name] = name
		}
	}
	var all []Resource
	for _, r := range s.Resources {
		if !r.Deadlock {
			r.Chain = chainTo(r.Chain, semaphoreOf)
		}
		name := semaphoreOf[r.Name]
		if name == "" {
			all = append(all, r)
			continue
		}
		r.slotAlone(name)
		if i, known := at[name]; known {
			all[i].join(&r)
			continue
		}
		at[name] = len(all)
		all = append(all, r)
	}
	s.Resources = all
}

// chainTo ends a chain at the first semaphore in it.
func chainTo(chain []Link, semaphoreOf map[string]string) []Link {
	for i, link := range chain {
		if name := semaphoreOf[link.Resource]; name != "" {
			return append(slices.Clone(chain[:i]), Link{Resource: name, For: link.For, AnySlot: true})
		}
	}
	return chain
}

// slotAlone makes of the row of a slot one of its semaphore.
func (r *Resource) slotAlone(semaphore string) {
	if r.Holder != nil && !slices.ContainsFunc(r.Taken, func(s Slot) bool { return s.Resource == r.Name }) {
		r.Taken = append(r.Taken, Slot{Lock: *r.Holder})
	}
	r.Taken = slices.Clone(r.Taken)
	for i := range r.Taken {
		if len(r.Chain) > 0 && r.Taken[i].Resource == r.Name {
			r.Taken[i].WaitsFor = r.Chain[0].Resource
		}
	}
	if !r.Deadlock {
		r.Chain = nil
	}
	if r.Slots == 1 { // nobody reads the others of one
		r.InUse = len(r.Taken)
	}
	r.Name, r.Holder = semaphore, nil
}

// join adds the row of another slot.
func (r *Resource) join(other *Resource) {
	if other.Callers > r.Callers {
		r.Class = other.Class
	}
	for _, slot := range other.Taken {
		i := slices.IndexFunc(r.Taken, func(s Slot) bool { return s.Resource == slot.Resource })
		if i < 0 {
			r.Taken = append(r.Taken, slot)
		} else {
			r.Taken[i].WaitsFor = cmp.Or(r.Taken[i].WaitsFor, slot.WaitsFor)
		}
	}
	if r.InUse = max(r.InUse, other.InUse); r.InUse >= 0 {
		r.InUse = len(r.Taken)
	}
	slices.SortFunc(r.Taken, func(a, b Slot) int { return cmp.Compare(a.Number(), b.Number()) })
	r.Slots = max(r.Slots, other.Slots)
	r.Callers, r.Processes, r.Unlisted = r.Callers+other.Callers, r.Processes+other.Processes, r.Unlisted+other.Unlisted
	r.Longest = max(r.Longest, other.Longest)
	if other.Deadlock && !r.Deadlock {
		r.Deadlock, r.Chain = true, other.Chain
	}
	r.Waiters = append(slices.Clone(r.Waiters), other.Waiters...)
	slices.SortStableFunc(r.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
	r.AddRate(other.Rate, other.HeldP99)
	r.OnlyPages = r.OnlyPages && other.OnlyPages
}

// Number is that of the slot.
func (s *Slot) Number() int {
	_, slot, _ := records.ParseSlot(s.Resource)
	return slot
}

// Holders are the processes that have the slots of a semaphore, or that read a read/write lock, each once.
func (r *Resource) Holders() (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range r.Taken {
		add(nameOf(&r.Taken[i].Lock))
	}
	for i := range r.ReadBy {
		add(nameOf(&r.ReadBy[i]))
	}
	return names
}

// AddRate adds what another page says of the resource; a page that says nothing adds nothing.
func (r *Resource) AddRate(rate *float64, p99 *time.Duration) {
	if r.Rate == nil || rate == nil {
		r.Rate = cmp.Or(r.Rate, rate)
	} else {
		r.Rate = new(*r.Rate + *rate)
	}
	if r.HeldP99 == nil || p99 != nil && *p99 > *r.HeldP99 {
		r.HeldP99 = p99
	}
}
