// Package sweep reads the locks of all nodes once, and looks again at what it finds wrong.
//
//	one sweep                  sweep.go, its report result.go
//	one node, page by page     node.go, pages.go, take.go
//	how far a node is read     pass.go
//	the second look            confirm.go
//	memory for the next sweep  memory.go
//	a system beside Redis      whole.go
//
// Packages below it do one thing each: judge decides what is wrong, holders tracks since when a lock is held,
// coverage records what was read, orphan compares nodes, and registry keeps the findings.
package sweep
