// Package live keeps what a process knows about its locks at this instant: who
// holds which, who waits for whom and how long, how the nodes answer, and where
// the time of the slowest acquisitions went.
//
//	board, err := live.New()
//	locker, err = board.Wrap(locker) // inside or outside of instrument.Wrap
//	...
//	state := board.State(ctx) // what the page at /debug/locks shows: see package state
//
// A Board works over any [lock.Locker]. Over one that reports to [lock.Trace] it
// also knows what each waiter does, whom it waits for, which nodes know a lock,
// how the nodes are, and the steps of an acquisition.
//
// # Who blocks whom
//
// A [State] counts everything and lists the first of it: Totals and the rows of
// Blocked are of all calls, and what is listed says of how many. A row is a
// resource that callers wait for, with its holder, and the chain of what that
// holder waits for itself: a call whose context descends from a lease holds it
// (see [lock.Holding]). Deadlocks are told as soon as an engine reports one
// (lock.Trace), and those between engines once two looks have seen the same
// cycle; they go on being told for ten minutes after they are over.
//
// Waiters name the lease of the Board, if there is one, and otherwise whom they
// were told of when they were last refused: a refusal that names a lease of the
// Board which has ended since is out of date, and nobody is named. Lockers of one
// Board may be of several sets of nodes, on which one name means several things:
// they are told apart by [lock.Backend].Keyspace. Engines on the same servers with
// the same prefix share the first name that one of them gives ([lock.WithBackend],
// or the system's); a second set of that name gets a number behind it. Of Lockers
// without a Trace the set is not known.
//
// # Bounds
//
// Memory is bounded: what is held and what waits takes a record each until it
// ends, everything else has a fixed size. For ten minutes it is remembered who
// held what somebody waited for: the latest 50 holders of a resource, of at most
// 256 resources, 500 holders in a State. No goroutine runs in the background.
// No owner token is ever kept: neither a lease nor a trace event has one.
package live
