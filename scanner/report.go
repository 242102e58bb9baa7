package scanner

import (
	"github.com/lockscope/lockscope/scanner/report"
)

// What a [Report] is made of; package report has it all.
type (
	// Report is the result of one sweep.
	Report = report.Report
	// NodeReport is the result of a sweep on one node.
	NodeReport = report.NodeReport
	// Progress is how far a sweep of a node has come.
	Progress = report.Progress
	// Path names how pages are read.
	Path = report.Path
	// SlotRange is the hash slots of a Redis Cluster from First to Last.
	SlotRange = report.SlotRange

	// Finding is one thing wrong with one key on one node.
	Finding = report.Finding
	// Class names what is wrong with a lock.
	Class = report.Class
	// Hold is what the value of a lock says about its holder.
	Hold = report.Hold
	// Format names the writer of a lock's value, as far as its form shows.
	Format = report.Format

	// Gap is something that a sweep should have read and is not proved to have read.
	Gap = report.Gap
	// Reason names why a [Report] is incomplete.
	Reason = report.Reason
	// NodeError says why a node was not swept to its end.
	NodeError = report.NodeError

	// Policy sets limits for the locks that match a pattern. See [WithPolicies].
	Policy = report.Policy
	// Exclusion keeps known findings out of reports for a while. See [WithExclusions].
	Exclusion = report.Exclusion
	// Excluded is what an exclusion did in one sweep.
	Excluded = report.Excluded
)

// The classes of findings.
const (
	NoTTL       = report.NoTTL       // no TTL: the key never expires
	LongTTL     = report.LongTTL     // the TTL is longer than policy allows
	HeldTooLong = report.HeldTooLong // one holder has had it for longer than policy allows, or had it at each look
	Orphan      = report.Orphan      // the token is on a minority of a Redlock's nodes
	ForeignType = report.ForeignType // a type that no lock has
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
	PathShortcut = report.PathShortcut // no keys read: INFO keyspace answered
)

// The reasons why a [Report] is incomplete.
const (
	// the node failed, or its process changed between start and end
	ReasonNodeFailed     = report.ReasonNodeFailed
	ReasonRedirected     = report.ReasonRedirected     // keys that the node said another node has
	ReasonReplica        = report.ReasonReplica        // the replica is not proved to match its master
	ReasonRoleUnknown    = report.ReasonRoleUnknown    // the node does not report whether it is a master
	ReasonSlotsUncovered = report.ReasonSlotsUncovered // slots of a cluster that no node that was read serves
	ReasonSlotsMoving    = report.ReasonSlotsMoving    // a moving key may have reached a node already read
	ReasonBoundReached   = report.ReasonBoundReached   // the deadline of a sweep, or the limit of findings
	ReasonValuesUnread   = report.ReasonValuesUnread   // values that were not read: see WithMaxValues
	ReasonDatabases      = report.ReasonDatabases      // keys in another database of the server; never a gap
	ReasonUnwatched      = report.ReasonUnwatched      // the watch has no room for these holders: see WithMaxWatched
	ReasonNoMatch        = report.ReasonNoMatch        // a pattern that no key matches: see WithEmptyAllowed
	ReasonOrphans        = report.ReasonOrphans        // the nodes may not form one Redlock: see WithOneRedlock
	ReasonUncompared     = report.ReasonUncompared     // locks that were not compared with the other nodes
)

// Reasons returns all reasons, in the order of their definition.
func Reasons() []Reason { return report.Reasons() }

// KeyText returns the key in printable form: unchanged if it is one line of printable text, else as a quoted Go
// string. [strconv.Unquote] restores the bytes of one that starts with a quotation mark.
func KeyText(key string) string { return report.KeyText(key) }
