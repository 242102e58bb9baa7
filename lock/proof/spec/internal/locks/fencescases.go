package locks

import (
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// FencesCases are the explorations of [Fences].
func FencesCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("a fence with a lost answer", &Fences{Attempts: 2, Lost: 1}),
			explore.NewCase("runs and hand-over", &Fences{Attempts: 2, Run: 2, HandOver: true}),
			explore.NewCase("a refill", &Fences{Attempts: 2, Refills: 1}),
			explore.NewCase("a node emptied, and a late clock",
				&Fences{Attempts: 2, InTurn: true, Clock: 5, Wipes: 1, Quiet: 3, Late: 9}),
			explore.NewCase("runs and a node emptied", &Fences{Attempts: 4, InTurn: true, Run: 3, Clock: 1, Wipes: 1, Quiet: 6},
				promptly(3)...),
		},
		Slow: []explore.Case{
			explore.NewCase("an acquire carried out twice", &Fences{Attempts: 2, Twice: 1}),
			explore.NewCase("runs, hand-over, a refill and a lost answer",
				&Fences{Attempts: 2, Run: 2, HandOver: true, Refills: 1, Lost: 1}),
		},
		Broken: brokenFences(),
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

// promptly are so many acquisitions of fences, one after another, on nodes A and B.
func promptly(n int) (steps []string) {
	for c := range n {
		name := fmt.Sprint("client ", c+1)
		steps = append(steps, name+" sends acquire to all nodes", "node A grants "+name, "node B grants "+name,
			name+" has a quorum that agrees: its lease is valid")
	}
	return steps
}
