// Package memlock is a driver of package lock whose nodes live in this process. It is for
// tests and development: it needs no server, works in the fake time of testing/synctest,
// and takes faults on order, so that what a service does when it loses a lock, or finds
// no quorum, is tested in milliseconds.
//
//	nodes := memlock.NewNodes(3)
//	locker, err := memlock.New(nodes)
//	...
//	locker.Lose("order:1001") // its holder is told at once
//	nodes.NoQuorum()          // no lock can be had or renewed until nodes.Recover()
//
// Lockers made on the same nodes are to one another what processes are. The nodes keep
// time by the clock of this process and nothing beyond its end: no lock here excludes
// anything in another process.
package memlock
