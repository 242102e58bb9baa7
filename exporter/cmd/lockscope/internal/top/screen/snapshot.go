package screen

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
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
	Waited  time.Duration // by the one that has waited longest; zero: unknown
	Class   string        // a locktrace.Wait; empty: unknown
	Holds   []string      // meanwhile
	Backend string        // what the process calls the nodes; empty: unknown
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
	P50, P99         time.Duration
}
