package locks

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// Uncovered are this package's explorations of what the promise excludes. Each must find a violation.
func Uncovered() []explore.Case {
	return []explore.Case{
		// 91: a node goes on from a snapshot without the mark.
		explore.NewCase("a node that forgets the mark and not the key",
			&Revokes{Clients: 1, TTL: 4, Rounds: 2, Acts: 1, Restores: 1}, toRevoke...),
		// 13: rates that differ by more than the drift allows for.
		explore.NewCase("clocks too far apart", &Votes{Attempts: 2, TTL: 3, LagEvery: 1}, oneLease...),
		// 23: a lease handed over has a smaller fence than one granted elsewhere before.
		explore.NewCase("a fence in real time", &Fences{Attempts: 2, Run: 2, HandOver: true, RealTime: true}),
	}
}
