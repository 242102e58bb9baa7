package screen

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
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
	Resources []fleet.Row // that somebody waits for
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

// Add puts a row into its set. One on nodes that are not read makes a set without any.
func (s *Snapshot) Add(r fleet.Row) {
	at := slices.IndexFunc(s.Sets, func(set Set) bool { return set.Name == r.Set })
	if at < 0 {
		at = len(s.Sets)
		s.Sets = append(s.Sets, Set{Name: r.Set, Read: s.At})
	}
	s.Sets[at].Resources = append(s.Sets[at].Resources, r)
}
