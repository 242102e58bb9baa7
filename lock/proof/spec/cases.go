package main

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/constructs"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/locks"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/nodes"
)

// models are the cases of each model, in the order in which they are explored.
func models() []explore.Cases {
	return []explore.Cases{
		locks.VotesCases(), locks.FencesCases(),
		nodes.GuardCases(), nodes.MembersCases(), nodes.ChangesCases(),
		constructs.PermitsCases(), constructs.WaitersCases(), constructs.ElectionCases(), constructs.SetsCases(),
		constructs.SharedCases(),
		locks.RevokesCases(),
	}
}

// held are models with all rules on: no violation may be found. The first few fit into a
// test, the rest takes minutes.
func held() (quick, slow []explore.Case) {
	for _, m := range models() {
		quick, slow = append(quick, m.Quick...), append(slow, m.Slow...)
	}
	return quick, slow
}

// broken are models with one rule off each: a violation must be found. The name is that of
// the rule; the numbers beside it are those of the counterexamples in SPEC.md.
func broken() (all []explore.Case) {
	for _, m := range models() {
		all = append(all, m.Broken...)
	}
	return all
}

// uncovered are the explorations of what the promise excludes, with all rules on. Each must find a violation.
func uncovered() []explore.Case {
	return slices.Concat(locks.Uncovered(), nodes.Uncovered(), constructs.Uncovered())
}
