package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// SetsCases are the explorations of [Sets].
func SetsCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("sorted sets, and lost locks", sets(Sets{Wanted: "012 120 20", Losses: 2})),
		},
		Broken: brokenSets(),
	}
}

func brokenSets() []explore.Case {
	type R = SetsRules
	return []explore.Case{
		// 66: each waits for the lock of the next.
		explore.NewCase("Unsorted", sets(Sets{Wanted: "01 12 20", Rules: R{Unsorted: true}})),
		// 67: a set goes on when somebody else has one of its locks.
		explore.NewCase("LossOfOne", sets(Sets{Wanted: "01 10", Losses: 1, Rules: R{LossOfOne: true}})),
		// 68: a set that failed bars others.
		explore.NewCase("KeptOnFailure", sets(Sets{Wanted: "01 10", Rules: R{KeptOnFailure: true}})),
	}
}
