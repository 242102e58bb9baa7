// Package locktest is what tests of locks need.
//
// For tests of code that uses a [lock.Locker]: [TestLocker], the conformance suite
// every implementation and every decorator must pass, and [NewFakes], which makes
// lockers on servers that live in memory.
//
// For tests of the lock itself: [FakeServer] and [FakeNode], a Redis server and
// the way to it, with every fault a lock has to survive, in memory and in the fake
// time of testing/synctest; [Servers] and [Cluster], real ones.
//
// The simulation in this package's tests runs Redlocks against the fakes: random
// histories with random faults, each reproducible from its seed, checked against
// the promises of package lock in true time, which no client and no server sees.
//
//	go test ./lock/locktest -run Simulation -seed 42               # one history, told event by event
//	go test ./lock/locktest -run Simulation -seed 1 -histories 1000
package locktest
