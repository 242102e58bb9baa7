// Package coverage tells what a sweep is proved to have read. A [Node] asks its servers what
// they are before and after its pages (node.go, standing.go): only what is the same both
// times was so while they were read. [Slots] are those of a cluster (slots.go), and what is
// missing of anything is written down as a gap of the report (gaps.go).
package coverage
