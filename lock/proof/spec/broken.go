package spec

import (
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps with which explorations begin whose violation lies deep.
var (
	oneAttempt = []string{"client 1 sends acquire to all nodes", "node A grants client 1", "node B grants client 1"}
	oneLease   = append(slices.Clip(oneAttempt), "client 1 has a quorum: its lease is valid")
	aged       = append(slices.Clip(oneLease), "a tick passes", "a tick passes")
	// Client 2 has been granted by node C, when node C forgets it and takes the key of client 1 back.
	refilled = append(slices.Clip(aged), "client 1 begins a round of renewal and sends extend to all nodes",
		"client 2 sends acquire to all nodes", "node C grants client 2", "node C loses all its keys")
	leaseOnAB = []string{"client 1 begins an attempt", "node A grants client 1", "node B grants client 1",
		"client 1 has a quorum: its lease is valid"}
	givenUp = []string{"client 1 sends acquire to all nodes", "client 1 gives its attempt up and sends releases",
		"client 2 sends acquire to all nodes", "node A grants client 2", "node B grants client 2",
		"client 2 has a quorum: its lease is valid"}
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
// the rule; the numbers are those of the counterexamples in SPEC.md.
func Broken() []Case {
	return slices.Concat(brokenVotes(), brokenFences(), brokenGuards(), brokenMembers(), brokenChanges(),
		brokenConstructs())
}

func brokenVotes() []explore.Case {
	type R = VotesRules
	return []explore.Case{
		// 24: two halves each have what they take for a quorum.
		explore.NewCase("QuorumOffByOne", &Votes{Attempts: 2, TTL: 3, Rules: R{QuorumOffByOne: true}}),
		// 13: a clock that runs slow within its bound outlives the keys.
		explore.NewCase("DriftIgnored", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Rules: R{DriftIgnored: true}}, oneLease...),
		// 25: the time that the answers took is counted as validity.
		explore.NewCase("CountedLate", &Votes{Attempts: 2, TTL: 3, Rules: R{CountedLate: true}}, oneAttempt...),
		// 26: a lease goes on for a tick after it was to end.
		explore.NewCase("LossLate", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Rules: R{LossLate: true}}, oneLease...),
		// 27: the late release of one attempt undoes the next.
		explore.NewCase("TokenReused", &Votes{Attempts: 3, TTL: 3, Rules: R{TokenReused: true}}, givenUp...),
		// 28: a late release deletes somebody else's lock.
		explore.NewCase("ReleaseWithoutToken", &Votes{Attempts: 3, TTL: 3, Rules: R{ReleaseWithoutToken: true}}, givenUp...),
		// 29: a late acquire locks for nobody.
		explore.NewCase("NoTombstone", &Votes{Attempts: 1, TTL: 3, Rules: R{NoTombstone: true}}),
		// 30: a key put back stands for a grant that the node has forgotten.
		explore.NewCase("RefillVotes", &Votes{Attempts: 2, TTL: 4, Rounds: 1, Wipes: 1,
			Rules: R{RefillVotes: true, RefillInQuarantine: true}}, refilled...),
		// 31: a late extend brings a released lock back.
		explore.NewCase("RefillIgnoresTombstone", &Votes{Attempts: 1, TTL: 3, Rounds: 1, Releases: true,
			Rules: R{RefillIgnoresTombstone: true}}),
		// 32: as 30, in two rounds.
		explore.NewCase("RefillInQuarantine", &Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true,
			Rules: R{RefillInQuarantine: true}}, append(slices.Clip(refilled),
			"node C does not extend for client 1, or puts the key back", "client 1 gives its round of renewal up",
			"client 1 begins a round of renewal and sends extend to all nodes")...),
		// 33: a lease comes back whose releases are under way.
		explore.NewCase("ProlongRevives", &Votes{Attempts: 2, TTL: 3, Rounds: 1, Rules: R{ProlongRevives: true}},
			append(slices.Clip(oneLease), "a tick passes",
				"client 1 begins a round of renewal and sends extend to all nodes",
				"client 2 sends acquire to all nodes",
				"node C grants client 2")...),
		// 34: so does one that is handed over.
		explore.NewCase("HandOverAfterRelease", &Votes{Attempts: 2, TTL: 3, Releases: true,
			Rules: R{HandOverAfterRelease: true}}, oneLease...),
		// 11: a lock that nobody knows of.
		explore.NewCase("ResentAfterNoScript", &Votes{Attempts: 1, TTL: 3, Rules: R{ResentAfterNoScript: true}}),
		// 38: a node has forgotten a lock, and grants it.
		explore.NewCase("NoQuarantine", &Votes{Attempts: 2, TTL: 3, Wipes: 1, Rules: R{NoQuarantine: true}}, oneLease...),
		// 1: a quarantine that is taken for longer than it was.
		explore.NewCase("ShortQuarantine", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Wipes: 1, Patient: true,
			Rules: R{ShortQuarantine: true}}, oneLease...),
	}
}

func brokenFences() []explore.Case {
	type R = FencesRules
	return []explore.Case{
		// 35: the next quorum counts on from less.
		explore.NewCase("NotRaised", &Fences{Attempts: 2, Rules: R{NotRaised: true}}),
		// 36: a counter is raised after somebody else's grant.
		explore.NewCase("RaisedAnywhere", &Fences{Attempts: 2, Rules: R{RaisedAnywhere: true}}),
		// 37: or after a second grant of the same token, which does not count.
		explore.NewCase("RaisedByToken", &Fences{Attempts: 2, Twice: 1, Rules: R{RaisedByToken: true}},
			append(slices.Clip(oneAttempt), "client 2 sends acquire to all nodes",
				"node C grants client 2, and will be asked once more")...),
		// 8: two leases with one fence, late in a run.
		explore.NewCase("RunNotCounted", &Fences{Attempts: 2, Run: 2, HandOver: true, Rules: R{RunNotCounted: true}}),
		// 9: counters are ahead of the clock from which an emptied node goes on.
		explore.NewCase("RunAheadOfClock", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6,
			Rules: R{RunAheadOfClock: true}}, promptly(3)...),
		// 10: an emptied node goes on from a clock that is behind.
		explore.NewCase("FloorNotBounded", &Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9,
			Rules: R{FloorNotBounded: true}}, promptly(1)...),
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

func brokenMembers() []explore.Case {
	type R = MembersRules
	begun := []string{"the change lets node C begin its quarantine", "the change lets node D begin its quarantine",
		"the change lets node E begin its quarantine"}
	renewed := []string{"a tick passes", "client 1 begins a round of renewal", "node A extends the lock of client 1"}
	return []explore.Case{
		// 7: {A, B} of three and {C, D, E} of five.
		explore.NewCase("AnyConfiguration", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{AnyConfiguration: true}}),
		// 20: the same, where nodes are at different pairs of sets.
		explore.NewCase("NodeByNode",
			&Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{NodeByNode: true}}, leaseOnAB...),
		// 7: an old quorum is left when the new one begins.
		explore.NewCase("OldQuorumLeft", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{OldQuorumLeft: true}},
			slices.Concat(marked("C", "D", "E"), begun)...),
		// 39: nodes go over while an old lease is valid.
		explore.NewCase("NoQuarantine", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Rules: R{NoQuarantine: true}},
			leaseOnAB...),
		// 21: the quarantine of a change is shorter than an old lease.
		explore.NewCase("NewLengthOnly", &Members{Old: 3, New: 5, OldTTL: 3, NewTTL: 2, Rules: R{NewLengthOnly: true}},
			leaseOnAB...),
		// 19: an old lease is renewed for ever.
		explore.NewCase("ExtendsUnchecked", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2, Renewed: true,
			Rules: R{ExtendsUnchecked: true}},
			slices.Concat(leaseOnAB, marked("C", "A", "D", "E"), begun, renewed)...),
		// 21: who has the shorter longest TTL ends a quarantine too early.
		explore.NewCase("TTLNotNamed", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1, Rules: R{TTLNotNamed: true}}),
	}
}

func brokenChanges() []explore.Case {
	type R = ChangesRules
	atOnce := Changes{Sets: "ABC ABCD ABCE", Acts: "0>1 0>2", Away: 1}
	off := func(m Changes, rules R) *Changes { m.Rules = rules; return changes(m) }
	return []explore.Case{
		// 40: an old name of what stands there is believed; of two changes at once one is lost.
		explore.NewCase("FromBelieved", off(atOnce, R{FromBelieved: true})),
		// 41: the same, where it is only looked at before the first mark.
		explore.NewCase("MarkWithoutRead", off(atOnce, R{MarkWithoutRead: true})),
		// 46: what another act has only marked is taken for what stands there.
		explore.NewCase("AnyMark", off(Changes{Sets: "ABC ABD ADE", Acts: "0>1 1>2", Away: 1}, R{AnyMark: true})),
		// 42: two halves of an even set know nothing of one another.
		explore.NewCase("HalfIsEnough", off(Changes{Sets: "ABCD ABE CD", Acts: "0>1 0>2", Away: 2}, R{HalfIsEnough: true})),
		// 43: who was wiped does not know of the change before, and who knows is away.
		explore.NewCase("WipedCounts", off(Changes{Sets: "ABC ADE AB", Acts: "0>1 0>2", Away: 1, Wipes: 1},
			R{WipedCounts: true})),
		// 47: what was marked first has been undone by the time the last is marked.
		explore.NewCase("NotConfirmed", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{NotConfirmed: true})),
		// 48: who is to be joined has gone on to another configuration since he was asked.
		explore.NewCase("JoinUnconfirmed", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{JoinUnconfirmed: true})),
		// 44: what is taken back was somebody else's by then.
		explore.NewCase("TakenBackBlind", off(Changes{Sets: "ABC ABD", Acts: "0>1 0>1", Away: 1, Lost: 1},
			R{TakenBackBlind: true})),
		// 45: a change that was undone meanwhile goes on.
		explore.NewCase("BeginBlind", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{BeginBlind: true})),
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
	return append(uncoveredRevokes(), []explore.Case{
		// 13: rates that differ by more than the drift allows for.
		explore.NewCase("clocks too far apart", &Votes{Attempts: 2, TTL: 3, LagEvery: 1}, oneLease...),
		// 23: a lease handed over has a smaller fence than one granted elsewhere before.
		explore.NewCase("a fence in real time", &Fences{Attempts: 2, Run: 2, HandOver: true, RealTime: true}),
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
		// 66: a cycle through a lock that is not of the set.
		explore.NewCase("a lock held before the set", sets(Sets{Wanted: "01 0", Held: "- 1"})),
		// 59: the old k comes back with those who still have it.
		explore.NewCase("two nodes forget k", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Wipes: 2}),
	}...)
}
