// Package memlock provides locks in memory, for tests and development. It needs no server and works
// in the fake time of testing/synctest. A test injects faults, and so checks in milliseconds what a
// service does when it loses a lock or finds no quorum.
//
//	nodes := memlock.NewNodes(3)
//	locker, err := memlock.New(nodes)
//	...
//	locker.Lose("order:1001") // the lease's context ends at once
//	nodes.NoQuorum()          // no lock is granted or renewed until nodes.Recover()
//
// Lockers on the same nodes compete as processes do. The nodes exist in this process only: a lock
// here excludes nothing in another process.
package memlock
