package scanner

import (
	"github.com/lockscope/lockscope/scanner/report"
)

// What a [Report] is made of; package report has it all.
type (
	// Report is the result of one sweep.
	Report = report.Report
	// NodeReport is what a sweep did on one node.
	NodeReport = report.NodeReport
	// Progress is how far a node's sweep has come.
	Progress = report.Progress
	// Path names how pages are read.
	Path = report.Path
	// SlotRange is the hash slots of a Redis Cluster from First to Last.
	SlotRange = report.SlotRange

	// Finding is one thing wrong with one key on one node.
	Finding = report.Finding
	// Class names what is wrong with a lock.
	Class = report.Class
	// Hold is what a lock's value tells of who holds it and how.
	Hold = report.Hold
	// Format names who wrote a lock's value, as far as its shape tells.
	Format = report.Format

	// Gap is something that a sweep was to read and is not proved to have read.
	Gap = report.Gap
	// Reason names why a [Report] is incomplete.
	Reason = report.Reason
	// NodeError says why a node could not be swept to its end.
	NodeError = report.NodeError

	// Policy says what is right for the locks that match a pattern. See [WithPolicies].
	Policy = report.Policy
	// Exclusion keeps what is known to be wrong out of the findings for a while. See
	// [WithExclusions].
	Exclusion = report.Exclusion
	// Excluded is what an exclusion did in one sweep.
	Excluded = report.Excluded
)

// The classes of findings.
const (
	NoTTL       = report.NoTTL       // never expires: TTL -1
	LongTTL     = report.LongTTL     // expires later than policy allows
	HeldTooLong = report.HeldTooLong // the same holder for longer than policy allows
	Orphan      = report.Orphan      // a Redlock's token on a minority of nodes only
	ForeignType = report.ForeignType // not a type that a lock has
)

// The formats of lock values.
const (
	FormatLockscope = report.FormatLockscope
	FormatRedisson  = report.FormatRedisson
	FormatShedLock  = report.FormatShedLock
	FormatUnknown   = report.FormatUnknown
)

// The ways to read a page.
const (
	PathScript   = report.PathScript   // one script per page, which returns suspects only
	PathPipeline = report.PathPipeline // SCAN, then one pipeline per page
	PathShortcut = report.PathShortcut // INFO keyspace made looking at keys needless
)

// The reasons why a [Report] is incomplete.
const (
	// the node failed, or was another process at the end than at the start
	ReasonNodeFailed     = report.ReasonNodeFailed
	ReasonRedirected     = report.ReasonRedirected     // keys of which the node said that another one has them
	ReasonReplica        = report.ReasonReplica        // what a replica has is not proved to be what its master has
	ReasonRoleUnknown    = report.ReasonRoleUnknown    // the node does not tell whether it is a master
	ReasonSlotsUncovered = report.ReasonSlotsUncovered // slots of a cluster that no node read serves
	ReasonSlotsMoving    = report.ReasonSlotsMoving    // slots on the move: a key may have moved from unread to read
	ReasonBoundReached   = report.ReasonBoundReached   // the deadline of a sweep, or the bound of findings
	ReasonValuesUnread   = report.ReasonValuesUnread   // locks whose values were not looked at: see WithMaxValues
	ReasonUnwatched      = report.ReasonUnwatched      // holders for whom the watch has no room: see WithMaxWatched
	ReasonNoMatch        = report.ReasonNoMatch        // a pattern that no key matches: see WithEmptyAllowed
	ReasonOrphans        = report.ReasonOrphans        // the nodes are not proved to be one Redlock's: see WithOneRedlock
)

// Reasons are all there are, in the order of their definition.
func Reasons() []Reason { return report.Reasons() }

// KeyText returns the key as people may read it: as it is if that is one line of
// printable text, else as a quoted Go string. strconv.Unquote brings back the
// bytes of one that starts with a quotation mark.
func KeyText(key string) string { return report.KeyText(key) }
