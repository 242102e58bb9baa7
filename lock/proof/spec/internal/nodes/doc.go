// Package nodes has the models that say which nodes vote, and when: [Guard] of nodes that forget; [Members] of a change
// of the set of nodes; [Changes] of several.
package nodes
