package report

// Reason names why a [Report] is incomplete.
type Reason string

// The reasons.
const (
	// the node failed, or was another process at the end than at the start
	ReasonNodeFailed     Reason = "node_failed"
	ReasonRedirected     Reason = "redirected"          // keys of which the node said that another one has them
	ReasonReplica        Reason = "replica_not_in_sync" // what a replica has is not proved to be what its master has
	ReasonRoleUnknown    Reason = "role_unknown"        // the node does not tell whether it is a master
	ReasonSlotsUncovered Reason = "slots_uncovered"     // slots of a cluster that no node read serves
	ReasonSlotsMoving    Reason = "slots_moving"        // slots on the move: a key may have moved from unread to read
	ReasonBoundReached   Reason = "bound_reached"       // the deadline of a sweep, or the bound of findings
	ReasonValuesUnread   Reason = "values_unread"       // locks whose values were not looked at: see scanner.WithMaxValues
	// holders for whom the watch has no room: see scanner.WithMaxWatched
	ReasonUnwatched Reason = "holders_unwatched"
	ReasonNoMatch   Reason = "no_match" // a pattern that no key matches: see scanner.WithEmptyAllowed
	// the nodes are not proved to be one Redlock's: see scanner.WithOneRedlock
	ReasonOrphans Reason = "orphans_unproved"
)

// Reasons are all there are, in the order of their definition.
func Reasons() []Reason {
	return []Reason{
		ReasonNodeFailed, ReasonRedirected, ReasonReplica, ReasonRoleUnknown, ReasonSlotsUncovered, ReasonSlotsMoving,
		ReasonBoundReached, ReasonValuesUnread, ReasonUnwatched, ReasonNoMatch, ReasonOrphans,
	}
}

// Gap is something that a sweep was to read and is not proved to have read.
type Gap struct {
	Group  string // of the Scanner, if it has one
	Node   string // as in [NodeReport]; "" if it is no single node's
	Reason Reason
	Detail string // what and how much, and what to do about it; no key, no value
}

// SlotRange is the hash slots of a Redis Cluster from First to Last.
type SlotRange struct{ First, Last int }
