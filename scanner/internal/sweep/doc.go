// Package sweep looks at the locks of all nodes once, and again at what it finds wrong.
//
//	one sweep                      sweep.go, its report result.go, settings.go
//	one node of it, page by page   pages.go, take.go, node.go
//	how far a node is read         pass.go
//	since when a lock is held      lease.go
//	the second look                confirm.go
//	what one leaves to the next    memory.go
//
// The rooms below it know one thing each: package judge what is wrong, holders since when a
// lock is held, coverage what was read, orphan what other nodes have, ledger what was found.
package sweep
