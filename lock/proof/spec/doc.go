// Package spec is the algorithm of package lock as small models, and what explores
// every state they can reach: an executable specification. SPEC.md says in one page what
// the models contain, what must hold in each state, and what was found.
//
// Each model is of one concern: [Votes] of messages, leases and time; [Fences] of fencing
// tokens; [Guard] of nodes that forget; [Members] of a change of the set of nodes, [Changes] of
// several. Each has rules, and a field for each rule that switches it off. With all rules on, nothing is
// found; with any of them off, something must be.
package spec
