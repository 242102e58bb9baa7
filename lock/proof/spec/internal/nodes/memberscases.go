package nodes

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// MembersCases are the explorations of [Members].
func MembersCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("three nodes to four", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2}),
			explore.NewCase("another longest TTL", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2}),
			explore.NewCase("five nodes to three", &Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2}),
			explore.NewCase("one of three nodes named alone",
				&Members{Old: 3, New: 1, OldTTL: 2, NewTTL: 2, Renewed: true, Restarts: 2, Alone: true}),
		},
		Slow: []explore.Case{
			explore.NewCase("three nodes to five", &Members{Old: 3, New: 5, OldTTL: 2, NewTTL: 2}),
			explore.NewCase("a lease renewed throughout", &Members{Old: 3, New: 4, OldTTL: 2, NewTTL: 2, Renewed: true}),
			explore.NewCase("another longest TTL, a node wiped", &Members{Old: 3, New: 3, OldTTL: 3, NewTTL: 2, Wipes: 1}),
			explore.NewCase("five nodes to three, restarts",
				&Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2, Restarts: 2}),
		},
		Broken: brokenMembers(),
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
		// 92: one forgotten address: {B, C} of three, and {A}.
		explore.NewCase("NumberDecides", &Members{Old: 3, New: 1, OldTTL: 2, NewTTL: 2, Alone: true,
			Rules: R{NumberDecides: true}}),
		// 87: two of five nodes are marked for a set of three when the change stops, and restart.
		explore.NewCase("RestartEndsMark", &Members{Old: 5, New: 3, OldTTL: 2, NewTTL: 2, Restarts: 2,
			Rules: R{RestartEndsMark: true}},
			slices.Concat(marked("A", "B"), restarted)...),
	}
}

// restarted are the two that are asked for votes again, by a client that has the new set.
var restarted = []string{"node A restarts with all its keys", "node B restarts with all its keys",
	"node A begins its quarantine, asked by client 2", "node B begins its quarantine, asked by client 2"}

// marked is the first round of a change, on these nodes.
func marked(nodes ...string) (steps []string) {
	for _, n := range nodes {
		steps = append(steps, "the change marks node "+n)
	}
	return steps
}
