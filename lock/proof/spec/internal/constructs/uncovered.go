package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// Uncovered are this room's explorations of what the promise excludes. Each must find a violation.
func Uncovered() []explore.Case {
	return []explore.Case{
		// 66: a cycle through a lock that is not of the set.
		explore.NewCase("a lock held before the set", sets(Sets{Wanted: "01 0", Held: "- 1"})),
		// 59: the old k comes back with those who still have it.
		explore.NewCase("two nodes forget k", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Wipes: 2}),
	}
}
