package spec

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// changedToABD is the first change from ABC, which has not told C yet that it has left.
func changedToABD() (steps []string) {
	for _, does := range []string{"asks node %c", "marks node %c", "looks at node %c once more"} {
		for _, node := range "ABCD" {
			steps = append(steps, fmt.Sprintf("change 1 "+does, node))
		}
	}
	for _, node := range "ABD" {
		steps = append(steps,
			fmt.Sprintf("change 1 lets node %c begin its quarantine, or go, if nothing has happened to it", node))
	}
	return steps
}

// Case is one exploration.
type Case = explore.Case

// changes is the model with its bounds read.
func changes(m Changes) *Changes { return m.parse() }

// everyFault is all that may happen to a node that the guard covers, but for clocks.
const everyFault = Flush | Restart | RestartEmpty | RestartOld | Copied

// Held are models with all rules on: no violation may be found. The first few fit into a
// test, the rest takes minutes.
func Held() (quick, slow []Case) {
	quick = []explore.Case{
		explore.NewCase("two clients", &Votes{Attempts: 2, TTL: 3}),
		explore.NewCase("a clock that is behind", &Votes{Attempts: 2, TTL: 3, LagEvery: 3}),
		explore.NewCase("release and a lost answer", &Votes{Attempts: 2, TTL: 3, Releases: true, Lost: 1}),
		explore.NewCase("a fence with a lost answer", &Fences{Attempts: 2, Lost: 1}),
		explore.NewCase("runs and hand-over", &Fences{Attempts: 2, Run: 2, HandOver: true}),
		explore.NewCase("a refill", &Fences{Attempts: 2, Refills: 1}),
		explore.NewCase("a node emptied, and a late clock",
			&Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9}),
		explore.NewCase("runs and a node emptied", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6},
			promptly(3)...),
		explore.NewCase("callers disagree about the time",
			&Guard{TTL: 2, Faults: 1, Allowed: Flush | RestartEmpty, Ahead: true}),
		explore.NewCase("one fault", &Guard{TTL: 2, Faults: 1, Allowed: everyFault}),
		explore.NewCase("clocks set", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | ClockSet}),
		explore.NewCase("servers told by their markers", &Guard{TTL: 2, Faults: 2, Allowed: Flush | Restart, ByMarker: true}),
		explore.NewCase("a vouch for one node", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush}),
		explore.NewCase("a vouch repeated", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush}, leaseOnAB...),
		explore.NewCase("three nodes to four", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2}),
		explore.NewCase("another longest TTL", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2}),
		explore.NewCase("five nodes to three", &Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2}),
		explore.NewCase("two at once", changes(Changes{Sets: "ABC ABCD ABCE", Acts: "0>1 0>2", Away: 1, Lost: 1})),
		explore.NewCase("the same twice", changes(Changes{Sets: "ABC ABD", Acts: "0>1 0>1", Away: 1, Lost: 1})),
		explore.NewCase("one undone", changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1})),
		explore.NewCase("sets of an even number", changes(Changes{Sets: "ABCD ABE CD", Acts: "0>1 0>2", Away: 2})),
		explore.NewCase("a node wiped, and a change nobody knew of",
			changes(Changes{Sets: "ABC ADE AB", Acts: "0>1 0>2", Away: 1, Wipes: 1})),
	}
	slow = []explore.Case{
		explore.NewCase("a node wiped", &Votes{Attempts: 2, TTL: 3, Wipes: 1}),
		explore.NewCase("a snapshot brought back", &Votes{Attempts: 2, TTL: 3, Restores: 1}, oneLease...),
		explore.NewCase("renewal, release and a lost answer",
			&Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, Lost: 1}),
		explore.NewCase("renewal, and a clock that is behind", &Votes{Attempts: 2, TTL: 3, Rounds: 1, LagEvery: 3},
			oneLease...),
		explore.NewCase("two renewals, and a node that forgot",
			&Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true},
			refilled...),
		explore.NewCase("an acquire carried out twice", &Fences{Attempts: 2, Twice: 1}),
		explore.NewCase("runs, hand-over, a refill and a lost answer",
			&Fences{Attempts: 2, Run: 2, HandOver: true, Refills: 1, Lost: 1}),
		explore.NewCase("two faults", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | Copied}, leaseOnAB...),
		explore.NewCase("a vouch for new nodes", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush},
			"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B"),
		explore.NewCase("three nodes to five", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2}),
		explore.NewCase("a lease renewed throughout", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2, Renewed: true}),
		explore.NewCase("another longest TTL, a node wiped", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1}),
		explore.NewCase("the first of two changes once more",
			changes(Changes{Sets: "ABC ABD ADE", Acts: "0>1 1>2 0>1", Away: 1}), changedToABD()...),
		explore.NewCase("one undone, and a lost answer",
			changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1, Lost: 1})),
		explore.NewCase("a node joins late while a change begins",
			changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>1 1>2", Away: 1})),
		explore.NewCase("nodes join late while a change begins",
			changes(Changes{Sets: "ABCDE ABC", Acts: "0>0 0>1", Away: 2, Lost: 1})),
		explore.NewCase("an act undone while another begins",
			changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>0 0>2", Away: 1})),
	}
	moreQuick, moreSlow := heldConstructs()
	return append(quick, moreQuick...), append(slow, moreSlow...)
}
