// Package locktest provides what tests of locks need.
//
// To test a [lock.Locker] or a decorator, call [TestLocker], the conformance suite that every one of them
// must pass. [NewFakes] makes lockers on servers in memory.
//
// To test the algorithm, use [FakeServer] and [FakeNode]: a Redis server and a connection to it, in
// memory. They work in the fake time of testing/synctest, and have every fault that a lock has to
// survive. [Servers] and [Cluster] start real servers.
//
// The simulation in this package's tests runs Redlocks on the fakes: random histories with random faults,
// each reproducible from its seed. It checks the promises of package lock in true time, which no client
// and no server sees.
//
//	go test ./lock/locktest -run Simulation -seed 42               # one history, event by event
//	go test ./lock/locktest -run Simulation -seed 1 -histories 1000
package locktest
