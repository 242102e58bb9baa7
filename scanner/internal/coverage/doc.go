// Package coverage records what a sweep is proved to have read. A [Node] asks its servers about themselves before and
// after its pages (node.go, standing.go), because only what is the same both times held in between. [Slots] are those
// of a cluster (slots.go). Everything missing becomes a gap of the report (gaps.go). A [Proof] says for repairs that
// nothing relevant to a finding was left out (proof.go), and whether a value belongs to one key only (values.go).
package coverage
