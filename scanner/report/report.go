package report

import (
	"time"
)

// Report is the result of one sweep.
type Report struct {
	Started   time.Time
	Took      time.Duration
	Nodes     []NodeReport
	Findings  []Finding  // confirmed and still there, worst first
	Pending   []Finding  // seen once; confirmed or forgotten by a later look
	Resolved  []Finding  // confirmed by an earlier sweep and gone or healed now
	Overflow  int        // findings beyond the cap, counted but not kept
	Excluded  []Excluded // what scanner.WithExclusions kept out, in their order
	Gaps      []Gap      // what is missing of the whole, besides that of the Nodes; see Incomplete
	Skipped   []Gap      // what was not looked for, and was not asked for either: it leaves the report complete
	Standby   bool       // nothing was swept: another process holds the scanner's lock
	Unelected bool       // swept without the scanner's lock, which nobody could have: others may have swept, too
}

// NodeReport is what a sweep did on one node.
type NodeReport struct {
	Node      string
	Group     string // of the Scanner, if it has one
	Took      time.Duration
	Locks     int64 // keys that matched; zero on PathShortcut
	Examined  int64 // keys the server looked at, matching or not, about
	Calls     int64 // commands sent
	Unread    int64 // locks into whose values this sweep did not look; see scanner.WithMaxValues
	Unwatched int64 // locks of which nobody knows since when they are held; see scanner.WithMaxWatched
	// locks whose values do not tell one holder from the next: they are held too long only if they are not written
	// meanwhile
	Indistinct int64
	Counts     map[Class]int // confirmed findings, and those beyond the cap, which were seen once
	Path       Path
	Truncated  bool  // stopped at a limit: counts are lower bounds
	Err        error // why the node could not be swept to its end

	Matched    map[string]int64 // Locks by pattern; nil on PathShortcut
	Redirected int64            // keys of which the node said that another one has them: nothing is known of them
	Overflow   int              // findings beyond the cap, counted but not kept
	Slots      []SlotRange      // of a cluster's node: those it was proved to serve while they were read
	Gaps       []Gap            // what is not proved to be read
}

// Path names how pages are read.
type Path string

// The ways to read a page.
const (
	PathScript   Path = "script"   // one script per page, which returns suspects only
	PathPipeline Path = "pipeline" // SCAN, then one pipeline per page
	PathShortcut Path = "shortcut" // INFO keyspace made looking at keys needless
)

// Progress is how far a node's sweep has come.
type Progress struct {
	Node     string
	Examined int64 // keys looked at, about; see [NodeReport]
	Keys     int64 // keys on the node
	Locks    int64 // keys that matched so far
	Done     bool  // the last call for this node in this sweep
}

// Incomplete returns all that the sweep is not proved to have read: that of the nodes,
// and that of the whole. Without any, the report is proved to say all there is of the
// keys that were there from the sweep's beginning to its end. A standby's report, which
// read nothing, has none either.
func (r *Report) Incomplete() []Gap {
	var all []Gap
	for i := range r.Nodes {
		all = append(all, r.Nodes[i].Gaps...)
	}
	return append(all, r.Gaps...)
}
