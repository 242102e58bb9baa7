package nodes

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// everyFault is all that may happen to a node that the guard covers, but for clocks.
const everyFault = Flush | Restart | RestartEmpty | RestartOld | Copied

// leaseOnAB are the steps to a lease of client 1 on nodes A and B.
var leaseOnAB = []string{"client 1 begins an attempt", "node A grants client 1", "node B grants client 1",
	"client 1 has a quorum: its lease is valid"}

// GuardCases are the explorations of [Guard].
func GuardCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("callers disagree about the time",
				&Guard{TTL: 2, Faults: 1, Allowed: Flush | RestartEmpty, Ahead: true}),
			explore.NewCase("one fault", &Guard{TTL: 2, Faults: 1, Allowed: everyFault}),
			explore.NewCase("clocks set", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | ClockSet}),
			explore.NewCase("servers told by their markers",
				&Guard{TTL: 2, Faults: 2, Allowed: Flush | Restart, ByMarker: true}),
			explore.NewCase("a vouch for one node", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush}),
			explore.NewCase("a vouch repeated", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush}, leaseOnAB...),
		},
		Slow: []explore.Case{
			explore.NewCase("two faults", &Guard{TTL: 2, Faults: 2, Allowed: Flush | RestartEmpty | Copied}, leaseOnAB...),
			explore.NewCase("a vouch for new nodes", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush},
				"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B"),
		},
		Broken: brokenGuards(),
	}
}

func brokenGuards() []explore.Case {
	type R = GuardRules
	return []explore.Case{
		// 3: another server's marker, or an old one, is believed.
		explore.NewCase("NoRunID", &Guard{TTL: 2, Faults: 1, Allowed: Copied, Rules: R{NoRunID: true}}),
		// 5: what an older connection saw is believed of the server of today.
		explore.NewCase("PoolSight", &Guard{TTL: 2, Faults: 1, Allowed: RestartOld, Rules: R{PoolSight: true}}),
		// 4: a clock that is set right ends a quarantine.
		explore.NewCase("NodeClockAlone", &Guard{TTL: 2, Faults: 2, Allowed: RestartEmpty | ClockSet,
			Rules: R{NodeClockAlone: true}}, leaseOnAB...),
		// 4: so does a caller whose clock is ahead.
		explore.NewCase("CallerClockAlone", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Ahead: true,
			Rules: R{CallerClockAlone: true}}),
		// 15: the callers' clock, kept near the node's, jumps with it.
		explore.NewCase("CallerClockCapped", &Guard{TTL: 2, Faults: 2, Allowed: RestartEmpty | ClockSet,
			Rules: R{CallerClockCapped: true}}, leaseOnAB...),
		// 16: an instant of before the quarantine counts as its beginning.
		explore.NewCase("OldStamp", &Guard{TTL: 2, Faults: 2, Allowed: Flush | ClockSet, Rules: R{OldStamp: true}}),
		// 2, 5: so it is where anything waives the quarantine: durable files, a long uptime.
		explore.NewCase("NoQuarantine", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{NoQuarantine: true}}),
		// 1: the same, by the guard.
		explore.NewCase("ShortQuarantine", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{ShortQuarantine: true}}),
		// 17: a vouch arrives when it is not true any more.
		explore.NewCase("VouchWithoutNonce", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush,
			Rules: R{VouchWithoutNonce: true}},
			"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B",
			"the vouch marks node C",
			"the vouch has marked all nodes, and none was used: it confirms", "the vouch lets node A vote",
			"the vouch lets node B vote"),
		// 6: a vouch for the one node that has forgotten.
		explore.NewCase("VouchForSome", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush, Rules: R{VouchForSome: true}}),
		// 6: a vouch that is an option of each locker.
		explore.NewCase("VouchStays", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{VouchStays: true}}),
		// 18: a vouch for one quarantine ends the next.
		explore.NewCase("VouchAnyQuarantine", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush,
			Rules: R{VouchAnyQuarantine: true}}, leaseOnAB...),
	}
}
