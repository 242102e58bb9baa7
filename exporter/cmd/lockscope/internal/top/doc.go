// Package top is lockscope top: nodes, contended locks and who blocks whom, again and again in a terminal, or once in a
// file.
//
// A [Source] reads what package screen shows. It has a task for each set of nodes and one for pages; a refresh starts
// them and waits for a moment, so that a system that hangs makes its own part stale and nothing else.
//
// A set of Redis nodes (redis.go) is probed (probe.go), the states of its nodes are judged (judge.go), and a scanner.Watch
// reads who waits and who holds.
//
// Another system answers two questions (other.go). What pages add comes last (pages.go, merge.go).
package top
