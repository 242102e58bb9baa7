package locks

import (
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
	givenUp = []string{"client 1 sends acquire to all nodes", "client 1 gives its attempt up and sends releases",
		"client 2 sends acquire to all nodes", "node A grants client 2", "node B grants client 2",
		"client 2 has a quorum: its lease is valid"}
)

// VotesCases are the explorations of [Votes].
func VotesCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("two clients", &Votes{Attempts: 2, TTL: 3}),
			explore.NewCase("a clock that is behind", &Votes{Attempts: 2, TTL: 3, LagEvery: 3}),
			explore.NewCase("release and a lost answer", &Votes{Attempts: 2, TTL: 3, Releases: true, Lost: 1}),
			explore.NewCase("a minimum hold, and a clock that is behind",
				&Votes{Attempts: 2, TTL: 3, LagEvery: 3, Releases: true, MinHold: 3}, oneLease...),
		},
		Slow: []explore.Case{
			explore.NewCase("a node wiped", &Votes{Attempts: 2, TTL: 3, Wipes: 1}),
			explore.NewCase("a snapshot brought back", &Votes{Attempts: 2, TTL: 3, Restores: 1}, oneLease...),
			explore.NewCase("renewal, release and a lost answer",
				&Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, Lost: 1}),
			explore.NewCase("renewal, and a clock that is behind", &Votes{Attempts: 2, TTL: 3, Rounds: 1, LagEvery: 3},
				oneLease...),
			explore.NewCase("two renewals, and a node that forgot",
				&Votes{Attempts: 2, TTL: 4, Rounds: 2, Wipes: 1, Patient: true},
				refilled...),
			explore.NewCase("a minimum hold, and a late renewal",
				&Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, MinHold: 5, Patient: true}, oneLease...),
			explore.NewCase("a minimum hold, a clock that is behind, and a node wiped",
				&Votes{Attempts: 2, TTL: 3, LagEvery: 3, Releases: true, MinHold: 2, Wipes: 1, Patient: true}, oneLease...),
		},
		Broken: brokenVotes(),
	}
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
		// 93: nodes whose clocks run faster than the client's do not keep a lock for its minimum hold.
		explore.NewCase("KeptWithoutDrift", &Votes{Attempts: 2, TTL: 3, LagEvery: 3, Releases: true, MinHold: 3,
			Rules: R{KeptWithoutDrift: true}}, oneLease...),
		// 95: a renewal that was sent before the release and comes after it cuts the minimum hold short.
		explore.NewCase("KeptIsRenewed", &Votes{Attempts: 2, TTL: 3, Rounds: 1, Releases: true, MinHold: 5, Patient: true,
			Rules: R{KeptIsRenewed: true}}, oneLease...),
		// 94: a minimum hold that is longer than any TTL outlives the quarantine of a node that has forgotten it.
		explore.NewCase("a minimum hold above MaxTTL", &Votes{Attempts: 2, TTL: 3, Releases: true, MinHold: 4, Wipes: 1,
			Patient: true}, oneLease...),
	}
}
