package nodes

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// Uncovered are this package's explorations of what the promise excludes. Each must find a violation.
func Uncovered() []explore.Case {
	return []explore.Case{
		// 22: its marker names it, and it has forgotten all since; DEBUG RELOAD NOSAVE does the same.
		explore.NewCase("a node gets its own past back", &Guard{TTL: 2, Faults: 1, Allowed: OwnPast}),
		// 77: its marker is part of the data that came back.
		explore.NewCase("a server told by its marker gets its own past back",
			&Guard{TTL: 2, Faults: 1, Allowed: RestartOld, ByMarker: true}),
		// 4: with the node's and a caller's, none is left to tell.
		explore.NewCase("both clocks are wrong", &Guard{TTL: 2, Faults: 2, Allowed: Flush | ClockSet, Ahead: true}),
		// 17: only a person can know.
		explore.NewCase("a vouch for nodes that were all flushed",
			&Guard{TTL: 2, Vouches: 1, Faults: 2, Allowed: Flush, Untrue: true}, leaseOnAB...),
		// 92: no marker says that it has a set, until a process of that set asks it.
		explore.NewCase("an emptied node named alone",
			&Members{Old: 3, New: 1, OldTTL: 2, NewTTL: 2, Wipes: 1, Alone: true}),
	}
}
