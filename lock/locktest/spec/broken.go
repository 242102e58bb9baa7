package spec

import (
	"fmt"
	"slices"
)

// Steps with which explorations begin whose violation lies deep.
var (
	oneAttempt = []string{"client 1 sends acquire to all nodes", "node A grants client 1", "node B grants client 1"}
	oneLease   = append(slices.Clip(oneAttempt), "client 1 has a quorum: its lease is valid")
	aged       = append(slices.Clip(oneLease), "a tick passes", "a tick passes")
	// Client 2 has been granted by node C, when node C forgets it and takes the key of client 1 back.
	refilled = append(slices.Clip(aged), "client 1 begins a round of renewal and sends extend to all nodes",
		"client 2 sends acquire to all nodes", "node C grants client 2", "node C loses all its keys")
	leaseOnAB = []string{"client 1 begins an attempt", "node A grants client 1", "node B grants client 1", "client 1 has a quorum: its lease is valid"}
	givenUp   = []string{"client 1 sends acquire to all nodes", "client 1 gives its attempt up and sends releases",
		"client 2 sends acquire to all nodes", "node A grants client 2", "node B grants client 2", "client 2 has a quorum: its lease is valid"}
)

// promptly are so many acquisitions of fences, one after another, on nodes A and B.
func promptly(n int) (steps []string) {
	for c := range n {
		name := fmt.Sprint("client ", c+1)
		steps = append(steps, name+" sends acquire to all nodes", "node A grants "+name, "node B grants "+name,
			name+" has a quorum that agrees: its lease is valid")
	}
	return steps
}

// Broken are models with one rule off each: a violation must be found. The name is that of
// the rule.
func Broken() []Case {
	return slices.Concat(brokenVotes(), brokenFences(), brokenGuards(), brokenMembers())
}

func brokenVotes() []Case {
	type R = VotesRules
	return []Case{
		newCase("QuorumOffByOne", &Votes{Attempts: 2, TTL: 3, Rules: R{QuorumOffByOne: true}}),
		newCase("DriftIgnored", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Rules: R{DriftIgnored: true}}, oneLease...),
		newCase("CountedLate", &Votes{Attempts: 2, TTL: 3, Rules: R{CountedLate: true}}, oneAttempt...),
		newCase("LossLate", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Rules: R{LossLate: true}}, oneLease...),
		newCase("TokenReused", &Votes{Attempts: 3, TTL: 3, Rules: R{TokenReused: true}}, givenUp...),
		newCase("ReleaseWithoutToken", &Votes{Attempts: 3, TTL: 3, Rules: R{ReleaseWithoutToken: true}}, givenUp...),
		newCase("NoTombstone", &Votes{Attempts: 1, TTL: 3, Rules: R{NoTombstone: true}}),
		newCase("RefillVotes", &Votes{Attempts: 2, TTL: 4, Rounds: 1, Wipes: 1, Rules: R{RefillVotes: true, RefillInQuarantine: true}}, refilled...),
		newCase("RefillIgnoresTombstone", &Votes{Attempts: 1, TTL: 3, Rounds: 1, Releases: true, Rules: R{RefillIgnoresTombstone: true}}),
		newCase("RefillInQuarantine", &Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true, Rules: R{RefillInQuarantine: true}}, append(slices.Clip(refilled),
			"node C does not extend for client 1, or puts the key back", "client 1 gives its round of renewal up",
			"client 1 begins a round of renewal and sends extend to all nodes")...),
		newCase("ProlongRevives", &Votes{Attempts: 2, TTL: 3, Rounds: 1, Rules: R{ProlongRevives: true}}, append(slices.Clip(oneLease), "a tick passes",
			"client 1 begins a round of renewal and sends extend to all nodes", "client 2 sends acquire to all nodes", "node C grants client 2")...),
		newCase("HandOverAfterRelease", &Votes{Attempts: 2, TTL: 3, Releases: true, Rules: R{HandOverAfterRelease: true}}, oneLease...),
		newCase("ResentAfterNoScript", &Votes{Attempts: 1, TTL: 3, Rules: R{ResentAfterNoScript: true}}),
		newCase("NoQuarantine", &Votes{Attempts: 2, TTL: 3, Wipes: 1, Rules: R{NoQuarantine: true}}, oneLease...),
		newCase("ShortQuarantine", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Wipes: 1, Patient: true, Rules: R{ShortQuarantine: true}}, oneLease...),
	}
}

func brokenFences() []Case {
	type R = FencesRules
	return []Case{
		newCase("NotRaised", &Fences{Attempts: 2, Rules: R{NotRaised: true}}),
		newCase("RaisedAnywhere", &Fences{Attempts: 2, Rules: R{RaisedAnywhere: true}}),
		newCase("RaisedByToken", &Fences{Attempts: 2, Twice: 1, Rules: R{RaisedByToken: true}}, append(slices.Clip(oneAttempt), "client 2 sends acquire to all nodes",
			"node C grants client 2, and will be asked once more")...),
		newCase("RunNotCounted", &Fences{Attempts: 2, Run: 2, HandOver: true, Rules: R{RunNotCounted: true}}),
		newCase("RunAheadOfClock", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6, Rules: R{RunAheadOfClock: true}}, promptly(3)...),
		newCase("FloorNotBounded", &Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9, Rules: R{FloorNotBounded: true}}, promptly(1)...),
	}
}

func brokenGuards() []Case {
	type R = GuardRules
	return []Case{
		newCase("NoRunID", &Guard{TTL: 2, Faults: 1, Allowed: Copied, Rules: R{NoRunID: true}}),
		newCase("PoolSight", &Guard{TTL: 2, Faults: 1, Allowed: RestartOld, Rules: R{PoolSight: true}}),
		newCase("NodeClockAlone", &Guard{TTL: 2, Faults: 2, Allowed: RestartEmpty | ClockSet, Rules: R{NodeClockAlone: true}}, leaseOnAB...),
		newCase("CallerClockAlone", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Ahead: true, Rules: R{CallerClockAlone: true}}),
		newCase("CallerClockCapped", &Guard{TTL: 2, Faults: 2, Allowed: RestartEmpty | ClockSet, Rules: R{CallerClockCapped: true}}, leaseOnAB...),
		newCase("OldStamp", &Guard{TTL: 2, Faults: 2, Allowed: Flush | ClockSet, Rules: R{OldStamp: true}}),
		newCase("NoQuarantine", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{NoQuarantine: true}}),
		newCase("ShortQuarantine", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{ShortQuarantine: true}}),
		newCase("VouchWithoutNonce", &Guard{TTL: 2, New: true, Vouches: 1, Faults: 1, Allowed: Flush, Rules: R{VouchWithoutNonce: true}},
			"somebody vouches for all nodes", "the vouch marks node A", "the vouch marks node B", "the vouch marks node C",
			"the vouch has marked all nodes, and none was used: it confirms", "the vouch lets node A vote", "the vouch lets node B vote"),
		newCase("VouchForSome", &Guard{TTL: 2, Vouches: 1, Faults: 1, Allowed: Flush, Rules: R{VouchForSome: true}}),
		newCase("VouchStays", &Guard{TTL: 2, Faults: 1, Allowed: Flush, Rules: R{VouchStays: true}}),
		newCase("VouchAnyQuarantine", &Guard{TTL: 2, Restarts: 1, Faults: 2, Allowed: Restart | Flush, Rules: R{VouchAnyQuarantine: true}}, leaseOnAB...),
	}
}

func brokenMembers() []Case {
	type R = MembersRules
	return []Case{
		newCase("AnyConfiguration", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{AnyConfiguration: true}}),
		newCase("NodeByNode", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{NodeByNode: true}}, leaseOnAB...),
		newCase("OldQuorumLeft", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{OldQuorumLeft: true}}, marked("C", "D", "E")...),
		newCase("NoQuarantine", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{NoQuarantine: true}}, leaseOnAB...),
		newCase("NewLengthOnly", &Members{Old: 3, New: 5, OldTTL: 3, NewTTL: 2, Rules: R{NewLengthOnly: true}}, leaseOnAB...),
		newCase("ExtendsUnchecked", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Renewed: true, Rules: R{ExtendsUnchecked: true}},
			slices.Concat(leaseOnAB, marked("C", "A", "D", "E"), []string{"the change lets node C begin its quarantine",
				"the change lets node D begin its quarantine", "the change lets node E begin its quarantine"})...),
		newCase("TTLNotNamed", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1, Rules: R{TTLNotNamed: true}}),
	}
}

// marked is the first round of a change, on these nodes.
func marked(nodes ...string) (steps []string) {
	for _, n := range nodes {
		steps = append(steps, "the change marks node "+n)
	}
	return steps
}

// Uncovered are models with all rules on, and something that is not covered: a violation
// must be found, so that what is said not to be covered is known not to be.
func Uncovered() []Case {
	return []Case{
		newCase("clocks too far apart", &Votes{Attempts: 2, TTL: 3, LagEvery: 1}, oneLease...),
		newCase("a fence in real time", &Fences{Attempts: 2, Run: 2, HandOver: true, RealTime: true}),
		newCase("a node gets its own past back", &Guard{TTL: 2, Faults: 1, Allowed: OwnPast}),
		newCase("both clocks are wrong", &Guard{TTL: 2, Faults: 2, Allowed: Flush | ClockSet, Ahead: true}),
		newCase("a vouch for nodes that were all flushed", &Guard{TTL: 2, Vouches: 1, Faults: 2, Allowed: Flush, Untrue: true}, leaseOnAB...),
	}
}
