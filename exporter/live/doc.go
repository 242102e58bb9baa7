// Package live keeps what a process knows about its locks at this instant: who
// holds which, who waits for whom and how long, how the nodes answer, and where
// the time of the slowest acquisitions went.
//
//	board, err := live.New()
//	locker, err = board.Wrap(locker) // inside or outside of instrument.Wrap
//	...
//	state := board.State(ctx) // what the page at /debug/locks shows
//
// A Board works over any [lock.Locker]. Over one that reports to [lock.Trace] it
// also knows what each waiter does, whom it waits for, which nodes know a lock,
// how the nodes are, and the steps of an acquisition.
//
// Memory is bounded: what is held and what waits takes a record each until it
// ends, everything else has a fixed size. No goroutine runs in the background.
// No owner token is ever kept: neither a lease nor a trace event has one.
package live
