// Package sweep reads the locks of all nodes once, and looks again at what it finds wrong.
//
//	one sweep                      sweep.go, its report result.go, settings.go
//	one node of it, page by page   pages.go, take.go, node.go
//	how far a node is read         pass.go
//	since when a lock is held      lease.go
//	the second look                confirm.go
//	memory for the next sweep      memory.go
//	a system beside Redis          whole.go, sighting.go
//
// Packages below it do one thing each: judge decides what is wrong, holders tracks since when a lock is held,
// coverage records what was read, orphan compares nodes, and ledger keeps the findings.
package sweep
