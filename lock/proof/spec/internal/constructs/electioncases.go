package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// ElectionCases are the explorations of [Election].
func ElectionCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("crashes, resignations that are lost", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 3,
				Renewals: 1, Lost: 2, Crashes: 1, Vacancy: 3}),
			explore.NewCase("candidates that ask at once",
				&Election{Candidates: 2, TTL: 2, Asks: 3, Lost: 2, Crashes: 1, Vacancy: 3}),
			explore.NewCase("a second campaign",
				&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 2, Again: 1, Renewals: 1, Vacancy: 3}),
		},
		Slow: []explore.Case{
			explore.NewCase("late calls, renewal and a campaign that is cancelled",
				&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Renewals: 1, Cancels: 1}),
			explore.NewCase("two campaigns at once, and one that is cancelled",
				&Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1}),
		},
		Broken: brokenElections(),
	}
}

func brokenElections() []explore.Case {
	type R = ElectionRules
	return []explore.Case{
		// 60: renewal hangs, and nobody says that the term is over.
		explore.NewCase("EndsByAnswer", &Election{Candidates: 2, TTL: 2, Asks: 1, Rules: R{EndsByAnswer: true}}),
		// 61: a campaign that was cancelled has its votes after all.
		explore.NewCase("CancelIgnored",
			&Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1, Rules: R{CancelIgnored: true}}),
		explore.NewCase("NoTombstone", &Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1, Rules: R{NoTombstone: true}}),
		// 62: releases are lost, and the lease is renewed for nobody.
		explore.NewCase("ResignForgets", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 3, Lost: 2, Vacancy: 3,
			Rules: R{ResignForgets: true}}),
		// 63: a leader acts until the nodes have answered, and the next one acts too.
		explore.NewCase("ResignIsNotEnd", &Election{Candidates: 2, TTL: 2, Asks: 1, Rules: R{ResignIsNotEnd: true}}),
		// 64: the leader of before leads again, before those who waited.
		explore.NewCase("AgainAtFront", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Again: 1,
			Rules: R{AgainAtFront: true}}),
		// 65: as 35, for terms.
		explore.NewCase("TermOfTheNode",
			&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Rules: R{TermOfTheNode: true}}),
	}
}
