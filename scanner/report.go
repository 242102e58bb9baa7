package scanner

import "time"

// Report is the result of one sweep.
type Report struct {
	Started  time.Time
	Took     time.Duration
	Nodes    []NodeReport
	Findings []Finding // confirmed and still there, worst first
	Pending  []Finding // seen once; confirmed or forgotten by a later look
	Resolved []Finding // confirmed by an earlier sweep and gone or healed now
	Overflow int       // findings beyond the cap, counted but not kept
	Standby  bool      // nothing was swept: another process holds the scanner's lock
}

// NodeReport is what a sweep did on one node.
type NodeReport struct {
	Node      string
	Took      time.Duration
	Locks     int64 // keys that matched; zero on PathShortcut
	Examined  int64 // keys the server looked at, matching or not, about
	Calls     int64 // commands sent
	Unread    int64 // locks into whose values this sweep did not look; see WithMaxValues
	Unwatched int64 // locks of which nobody knows since when they are held; see WithMaxWatched
	Counts    map[Class]int
	Path      Path
	Truncated bool  // stopped at a limit: counts are lower bounds
	Err       error // why the node could not be swept to its end
}

// Path names how pages are read.
type Path string

// The ways to read a page.
const (
	PathScript   Path = "script"   // one script per page, which returns suspects only
	PathPipeline Path = "pipeline" // SCAN, then one pipeline per page
	PathShortcut Path = "shortcut" // INFO keyspace made looking at keys needless
)

// Snapshot is what a collector of metrics needs; its values never go backwards
// while the Scanner lives.
type Snapshot struct {
	Last    Report       // the last sweep that was not a standby; zero before the first
	Nodes   []NodeTotals // by name; masters that their cluster has no more are left out
	Standby bool         // at its last turn, the loop left the sweep to another process
}

// NodeTotals adds up all sweeps of one node.
type NodeTotals struct {
	Node         string
	Up           bool // the last sweep reached the node
	Locks        int64
	Leaked       int // confirmed no_ttl
	Overlong     int // confirmed long_ttl
	Counts       map[Class]int
	OldestLeak   time.Duration // since the oldest confirmed no_ttl was first seen; zero if there is none
	LastSuccess  time.Time     // end of the last complete sweep; zero before it
	Passes       uint64
	PassFailures uint64
	Examined     uint64
	Calls        uint64
	Truncated    bool
	Durations    Durations
}

// Durations is a histogram of sweep durations.
type Durations struct {
	Count   uint64
	Sum     time.Duration
	Buckets map[float64]uint64 // cumulative count by upper bound in seconds
}
