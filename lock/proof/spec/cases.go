package spec

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/constructs"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/locks"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/nodes"
)

// Case is one exploration.
type Case = explore.Case

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

// Held are models with all rules on: no violation may be found. The first few fit into a
// test, the rest takes minutes.
func Held() (quick, slow []Case) {
	for _, m := range models() {
		quick, slow = append(quick, m.Quick...), append(slow, m.Slow...)
	}
	return quick, slow
}

// Broken are models with one rule off each: a violation must be found. The name is that of
// the rule; the numbers beside it are those of the counterexamples in SPEC.md.
func Broken() (broken []Case) {
	for _, m := range models() {
		broken = append(broken, m.Broken...)
	}
	return broken
}

// Uncovered are the explorations of what the promise excludes, with all rules on. Each must find a violation.
func Uncovered() []Case {
	return slices.Concat(locks.Uncovered(), nodes.Uncovered(), constructs.Uncovered())
}
