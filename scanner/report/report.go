package report

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Report is the result of one sweep.
type Report struct {
	Started   time.Time
	Took      time.Duration
	Servers   []string // names of the Scanner's servers, sorted; a cluster is one, whatever its masters are
	Nodes     []NodeReport
	Findings  []Finding     // confirmed and present, worst first
	Pending   []Finding     // seen once; a later look confirms or drops them
	Resolved  []Finding     // confirmed by an earlier sweep, now gone or healed
	Overflow  int           // findings beyond the limit, counted but not kept
	Excluded  []Excluded    // results of scanner.WithExclusions, in their order
	Gaps      []inspect.Gap // gaps of no single node; see Incomplete
	Skipped   []inspect.Gap // not looked for and not asked for: the report is complete all the same
	Silent    []Silent      // the [MaxSilent] locks that became silent last, the latest first
	Silents   int           // silent locks, listed or not
	Standby   bool          // no sweep: another process holds the scanner's lock
	Unelected bool          // swept without the scanner's lock, which nobody could acquire: others may have swept, too
}

// NodeReport is the result of a sweep on one node.
type NodeReport struct {
	Node      string
	Backend   string // as in [Finding]
	Group     string // of the Scanner, if it has one
	Quorum    int    // nodes of the Scanner that a quorum needs; 0 unless they are known to form one Redlock
	Took      time.Duration
	Locks     int64 // keys that matched; zero on PathShortcut
	Examined  int64 // keys that the server examined, matching or not, roughly
	Calls     int64 // commands sent
	Unread    int64 // locks whose values this sweep did not read; see scanner.WithMaxValues
	Unwatched int64 // locks not watched for how long they are held; see scanner.WithMaxWatched
	// locks whose values do not identify one holder: they are held too long only if nobody writes them meanwhile
	Indistinct int64
	Undated    int64                 // locks that may be held for longer than the limit: nothing shows since when
	Uncompared int64                 // locks that were to be compared with the other nodes of a Redlock, and could not be
	Counts     map[inspect.Class]int // confirmed findings, plus those beyond the limit, which were seen once
	Path       Path
	Truncated  bool  // the sweep stopped at a limit: counts are lower bounds
	Err        error // why the node could not be swept to its end

	Matched    map[string]int64 // Locks by pattern; of other systems, by kind; nil if not counted
	Redirected int64            // keys that the node said another node has: they were not read
	Overflow   int              // findings beyond the limit, counted but not kept
	Slots      []SlotRange      // on a cluster's node: slots that it was proved to serve while they were read
	Gaps       []inspect.Gap    // what is not proved to have been read
}

// Path names the way in which pages are read.
type Path string

// The ways to read a page.
const (
	PathScript   Path = "script"   // one script per page, which returns suspects only
	PathPipeline Path = "pipeline" // SCAN, then one pipeline per page
	PathShortcut Path = "shortcut" // no keys read: INFO keyspace answered
)

// Progress is how far a sweep of a node has come.
type Progress struct {
	Node     string
	Examined int64 // keys examined, roughly; see [NodeReport]
	Keys     int64 // keys on the node
	Locks    int64 // keys that matched so far
	// Share estimates how much of the node has been read, from 0 to 1: each pattern takes a pass through all keys.
	// A sweep that goes on where a deadline cut off the one before begins with the share of that.
	Share float64
	Done  bool // the last call for this node in this sweep
}

// Incomplete returns everything that the sweep is not proved to have read: the gaps of the nodes and those of the
// whole. Without gaps, the report is complete for the keys that existed from the sweep's start to its end. A standby
// report, which read nothing, has no gaps either.
func (r *Report) Incomplete() []inspect.Gap {
	var all []inspect.Gap
	for i := range r.Nodes {
		all = append(all, r.Nodes[i].Gaps...)
	}
	return append(all, r.Gaps...)
}

// SlotRange is the hash slots of a Redis Cluster from First to Last.
type SlotRange struct{ First, Last int }
