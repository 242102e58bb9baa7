package inspect

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
)

// Class names what is wrong with a lock.
type Class string

// The classes of leaks.
const (
	NoTTL       Class = "no_ttl"        // it never expires
	LongTTL     Class = "long_ttl"      // the TTL is longer than policy allows
	HeldTooLong Class = "held_too_long" // one holder has had it for longer than policy allows, or had it at each look
	Orphan      Class = "orphan"        // it names a holder and nobody holds it, or only a minority of a Redlock's nodes has it
	ForeignType Class = "foreign_type"  // a Redis type that no lock has
)

// Classes returns all classes in the order of reports: worst first.
func Classes() []Class { return []Class{NoTTL, HeldTooLong, Orphan, LongTTL, ForeignType} }

// Reason names why something was not read.
type Reason string

// The reasons.
const (
	// the node failed, or its process changed between start and end
	ReasonNodeFailed     Reason = "node_failed"
	ReasonRedirected     Reason = "redirected"          // keys that the node said another node has
	ReasonReplica        Reason = "replica_not_in_sync" // the replica is not proved to match its master
	ReasonRoleUnknown    Reason = "role_unknown"        // the node does not report whether it is a master
	ReasonSlotsUncovered Reason = "slots_uncovered"     // slots of a cluster that no node that was read serves
	ReasonSlotsMoving    Reason = "slots_moving"        // a moving key may have reached a node already read
	ReasonBoundReached   Reason = "bound_reached"       // the deadline of a sweep, or the limit of findings
	ReasonValuesUnread   Reason = "values_unread"       // values that were not read: see scanner.WithMaxValues
	// the watch has no room for these holders: see scanner.WithMaxWatched
	ReasonUnwatched Reason = "holders_unwatched"
	ReasonNoMatch   Reason = "no_match" // a pattern that no key matches: see scanner.WithEmptyAllowed
	// the nodes are not proved to form one Redlock (see scanner.WithOneRedlock), or some may have lost locks
	ReasonOrphans Reason = "orphans_unproved"
	// locks whose values were not compared with the other nodes: see scanner.WithOneRedlock
	ReasonUncompared Reason = "orphans_uncompared"
	// keys in another database of the server: never a gap, only a part that was skipped
	ReasonDatabases Reason = "other_databases"
)

// Reasons returns all reasons of gaps, in the order of their definition.
func Reasons() []Reason {
	return []Reason{
		ReasonNodeFailed, ReasonRedirected, ReasonReplica, ReasonRoleUnknown, ReasonSlotsUncovered, ReasonSlotsMoving,
		ReasonBoundReached, ReasonValuesUnread, ReasonUnwatched, ReasonNoMatch, ReasonOrphans, ReasonUncompared,
	}
}

// Gap is something that should have been read and is not proved to have been read.
type Gap struct {
	Group  string `json:"group,omitempty"` // of the Scanner, if it has one
	Node   string `json:"node,omitempty"`  // empty if it concerns no single node
	Reason Reason `json:"reason"`
	Detail string `json:"detail"` // what, how much, and the remedy; no key and no value
}

// Format names the writer of a lock's value, which the form of the value shows.
type Format string

// The formats of lock values.
const (
	FormatLockscope Format = "lockscope" // the record that lockscope's drivers write
	FormatRedisson  Format = "redisson"
	FormatShedLock  Format = "shedlock"
	FormatUnknown   Format = "unknown" // also a holder that the system itself names
)

// Hold is what a lock says about its holder. It never has an owner token. For other formats than lockscope's, the
// Holder has what they tell: Instance is ShedLock's host, or Redisson's client and thread, and Since is ShedLock's time.
type Hold struct {
	lock.Holder
	Format Format // empty if the Holder is
	Count  int    // re-entries of a Redisson lock; else zero
	// Fence is the fencing token of a lockscope lock; else zero. The token of a single node of Redis may be too high or
	// too low, because nodes count independently. In a listed lock, the holder's token is this one or a later one: a
	// lease that was handed over inside a process has a later token.
	Fence uint64
}

// Confidence is how sure a recognition is.
type Confidence int

// From a guess to a form that nothing else has.
const (
	Low    Confidence = iota + 1 // the form is common and the name does not suggest a lock
	Medium                       // the form is common and the name suggests a lock
	High                         // the form, or form and name, are the library's own
)

// String returns low, medium or high.
func (c Confidence) String() string {
	if c < Low || c > High {
		return fmt.Sprintf("Confidence(%d)", int(c))
	}
	return [...]string{"low", "medium", "high"}[c-Low]
}
