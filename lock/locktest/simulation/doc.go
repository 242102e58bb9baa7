// Package simulation runs random histories of the lock on the fakes of package locktest, with random faults, each
// reproducible from its seed. Its tests check the promises of package lock in true time, which no client and no server
// sees. It is for lockscope's own packages, and has nothing but tests.
//
//	go test ./lock/locktest/simulation -run Simulation -v -args -seed=42               # one history, event by event
//	go test ./lock/locktest/simulation -run Simulation -v -args -seed=1 -histories=1000
package simulation
