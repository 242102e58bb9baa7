// Package locktest provides what tests of locks need.
//
// To test a driver, a decorator or any other [lock.Locker], call [Run], the conformance suite that every one of them
// must pass: one call tests whatever its [Driver] claims. [NewFakes] makes lockers on servers in memory.
//
// To test the algorithm, use [FakeServer] and [FakeNode]: a Redis server and a connection to it, in
// memory. They work in the fake time of testing/synctest, and have every fault that a lock has to
// survive. [Servers] and [Cluster] start real servers.
//
// The tests of lock/locktest/simulation run the engine on these fakes: random histories with random faults,
// each reproducible from its seed.
package locktest
