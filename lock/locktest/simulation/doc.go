// Package simulation runs random histories of the lock, and of elections, sets and semaphores, on the fakes of package
// locktest, with random faults, each reproducible from its seed. Its tests check the promises in true time, which no
// client and no server sees. It is for lockscope's own packages, and has nothing but tests.
//
//	cd lock/locktest/simulation && go test -run '^TestSimulation$' -v -args -seed=42 # one history, event by event
//	cd lock/locktest/simulation && go test -run '^TestSimulationSets$' -v -args -seed=1 -histories=1000
//
// # Invariants
//
// Of the lock: I1 to I8 and I10 of the list in lock/proof/EVIDENCE.md, of each lease of a construct too.
// So is the order of those that wait, of locks and of permits. Messages that are lost and nodes that fail change it
// between processes, so Q2 is checked of calm histories:
//
//	Q1  the calls of a process are served in the order in which they came
//	Q2  processes are named in the order of their places in the queue; nobody takes what is kept for another on one
//	    node; a fair call that asks the gate first overtakes nobody;
//	    a release names somebody if anybody waits
//	Q3  a process hands a lock over among its callers for no more than 10 ms
//
// Of locks with a minimum hold:
//
//	M1  nobody is granted what was released before its minimum hold has passed since the grant
//
// Of constructs, where E is for elections, S for sets and P for permits:
//
//	E1 S1 P1  one term, one set of a name, k permits at a time
//	E2 S2 P2  fences are unique, and rise from one to any that is asked for later
//	E3 S3 P3  a call that failed holds nothing, and gets nothing later
//	E4 S4 P4  a context ends with the validity of what it is for; that of a set with the first lease
//	E5        an observer names no later term, no earlier end, and no leader that has resigned
//	E6        an observer sends nothing that changes a node
//	S5        a set is released in reverse
//	P5        permits of processes that died come back: all can be acquired at once
//	P6        a slot that becomes free is found by a call that waits
package simulation
