package report

// Reason names why a [Report] is incomplete.
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
	// the nodes are not proved to form one Redlock: see scanner.WithOneRedlock
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
		ReasonBoundReached, ReasonValuesUnread, ReasonUnwatched, ReasonNoMatch, ReasonOrphans,
		ReasonUncompared,
	}
}

// Gap is something that a sweep should have read and is not proved to have read.
type Gap struct {
	Group  string // of the Scanner, if it has one
	Node   string // as in [NodeReport]; "" if it concerns no single node
	Reason Reason
	Detail string // what, how much, and the remedy; no key and no value
}

// SlotRange is the hash slots of a Redis Cluster from First to Last.
type SlotRange struct{ First, Last int }
