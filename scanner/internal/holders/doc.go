// Package holders reads who has a lock, and tracks since when. A value says who holds the lock (holder.go, readers.go),
// how well it tells holders apart (distinction.go) and whether it identifies one lease (doubt.go). A [Watch] receives
// every look at the locks of a source (watch.go, lease.go), round after round through a node's keys (round.go). Its
// knowledge survives the process (saved.go).
package holders
