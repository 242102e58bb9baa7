package spec

import "fmt"

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

// changes is the model with its bounds read.
func changes(m Changes) *Changes { return m.parse() }

// everyFault is all that may happen to a node that the guard covers, but for clocks.
const everyFault = Flush | Restart | RestartEmpty | RestartOld | Copied

// Held are models with all rules on: no violation may be found. The first few fit into a
// test, the rest takes minutes.
func Held() (quick, slow []Case) {
	quick = []Case{
		newCase("two clients", &Votes{Attempts: 2, TTL: 3}),
		newCase("a clock that is behind", &Votes{Attempts: 2, TTL: 3, LagEvery: 3}),
		newCase("release and a lost answer", &Votes{Attempts: 2, TTL: 3, Releases: true, Lost: 1}),
		newCase("a fence with a lost answer", &Fences{Attempts: 2, Lost: 1}),
		newCase("runs and hand-over", &Fences{Attempts: 2, Run: 2, HandOver: true}),
		newCase("a refill", &Fences{Attempts: 2, Refills: 1}),
		newCase("a node emptied, and a late clock",
			&Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9}),
		newCase("runs and a node emptied", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6},
			promptly(3)...),
		newCase("callers disagree about the time",
			&Guard{TTL: 2, Faults: 1, Allowed: Flush | RestartEmpty, Ahead: true}),
		newCase("one fault", &Guard{TTL: 2, Faults: 1, Allowed: everyFault}),
		newCase("clocks set", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | ClockSet}),
		newCase("servers told by their markers", &Guard{TTL: 2, Faults: 2, Allowed: Flush | Restart, ByMarker: true}),
		newCase("a vouch for one node", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush}),
		newCase("a vouch repeated", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush}, leaseOnAB...),
		newCase("three nodes to four", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2}),
		newCase("another longest TTL", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2}),
		newCase("five nodes to three", &Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2}),
		newCase("two at once", changes(Changes{Sets: "ABC ABCD ABCE", Acts: "0>1 0>2", Away: 1, Lost: 1})),
		newCase("the same twice", changes(Changes{Sets: "ABC ABD", Acts: "0>1 0>1", Away: 1, Lost: 1})),
		newCase("one undone", changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1})),
		newCase("sets of an even number", changes(Changes{Sets: "ABCD ABE CD", Acts: "0>1 0>2", Away: 2})),
		newCase("a node wiped, and a change nobody knew of",
			changes(Changes{Sets: "ABC ADE AB", Acts: "0>1 0>2", Away: 1, Wipes: 1})),
	}
	slow = []Case{
		newCase("a node wiped", &Votes{Attempts: 2, TTL: 3, Wipes: 1}),
		newCase("a snapshot brought back", &Votes{Attempts: 2, TTL: 3, Restores: 1}, oneLease...),
		newCase("renewal, release and a lost answer", &Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, Lost: 1}),
		newCase("renewal, and a clock that is behind", &Votes{Attempts: 2, TTL: 3, Rounds: 1, LagEvery: 3},
			oneLease...),
		newCase("two renewals, and a node that forgot", &Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true},
			refilled...),
		newCase("an acquire carried out twice", &Fences{Attempts: 2, Twice: 1}),
		newCase("runs, hand-over, a refill and a lost answer",
			&Fences{Attempts: 2, Run: 2, HandOver: true, Refills: 1, Lost: 1}),
		newCase("two faults", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | Copied}, leaseOnAB...),
		newCase("a vouch for new nodes", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush},
			"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B"),
		newCase("three nodes to five", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2}),
		newCase("a lease renewed throughout", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2, Renewed: true}),
		newCase("another longest TTL, a node wiped", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1}),
		newCase("the first of two changes once more",
			changes(Changes{Sets: "ABC ABD ADE", Acts: "0>1 1>2 0>1", Away: 1}), changedToABD()...),
		newCase("one undone, and a lost answer", changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1, Lost: 1})),
		newCase("a node joins late while a change begins",
			changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>1 1>2", Away: 1})),
		newCase("nodes join late while a change begins",
			changes(Changes{Sets: "ABCDE ABC", Acts: "0>0 0>1", Away: 2, Lost: 1})),
		newCase("an act undone while another begins",
			changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>0 0>2", Away: 1})),
	}
	moreQuick, moreSlow := heldConstructs()
	return append(quick, moreQuick...), append(slow, moreSlow...)
}
