package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// Uncovered are this package's explorations of what the promise excludes. Each must find a violation.
func Uncovered() []explore.Case {
	return []explore.Case{
		// 66: a cycle through a lock that is not of the set.
		explore.NewCase("a lock held before the set", sets(Sets{Wanted: "01 0", Held: "- 1"})),
		// 90: a marked node forgets the mark before the act has ended, and a reader that was renewed meanwhile outlives its
		// quarantine. The longest TTL has to be longer than the reader's by the time that an act takes.
		explore.NewCase("a reader as long as a quarantine",
			&Shared{Modes: "R", TTLs: "3", Renewals: 3, Wipes: 1, Act: true}),
		// 59: the old k comes back with those who still have it.
		explore.NewCase("two nodes forget k", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Wipes: 2}),
	}
}
