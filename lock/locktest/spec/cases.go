package spec

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
		newCase("a node emptied, and a late clock", &Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9}),
		newCase("runs and a node emptied", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6}, promptly(3)...),
		newCase("callers disagree about the time", &Guard{TTL: 2, Faults: 1, Allowed: Flush | RestartEmpty, Ahead: true}),
		newCase("one fault", &Guard{TTL: 2, Faults: 1, Allowed: everyFault}),
		newCase("clocks set", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | ClockSet}),
		newCase("a vouch for one node", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush}),
		newCase("a vouch repeated", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush}, leaseOnAB...),
		newCase("three nodes to four", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2}),
		newCase("another longest TTL", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2}),
		newCase("five nodes to three", &Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2}),
	}
	slow = []Case{
		newCase("a node wiped", &Votes{Attempts: 2, TTL: 3, Wipes: 1}),
		newCase("a snapshot brought back", &Votes{Attempts: 2, TTL: 3, Restores: 1}, oneLease...),
		newCase("renewal, release and a lost answer", &Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, Lost: 1}),
		newCase("renewal, and a clock that is behind", &Votes{Attempts: 2, TTL: 3, Rounds: 1, LagEvery: 3}, oneLease...),
		newCase("two renewals, and a node that forgot", &Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true}, refilled...),
		newCase("an acquire carried out twice", &Fences{Attempts: 2, Twice: 1}),
		newCase("runs, hand-over, a refill and a lost answer", &Fences{Attempts: 2, Run: 2, HandOver: true, Refills: 1, Lost: 1}),
		newCase("two faults", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | Copied}, leaseOnAB...),
		newCase("a vouch for new nodes", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush},
			"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B"),
		newCase("three nodes to five", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2}),
		newCase("a lease renewed throughout", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2, Renewed: true}),
		newCase("another longest TTL, a node wiped", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1}),
	}
	return quick, slow
}
