// Package live tracks the locks of a process: who holds which lock, who waits for whom and how long, how the nodes
// answer, and where the time of the slowest acquisitions went.
//
//	board, err := live.New()
//	locker, err = board.Wrap(locker) // inside or outside instrument.Wrap
//	...
//	state := board.State(ctx) // what the page at /debug/locks shows: see package state
//
// A Board works over any [lock.Locker]. Over one that reports to [locktrace.Trace] it also knows what each waiter does,
// whom it waits for, which nodes know a lock, how the nodes are, and the steps of an acquisition.
//
// # Who blocks whom
//
// A [state.State] counts everything and lists a part: Totals and the rows of Blocked cover all calls, and each list says
// how many there are. A row of Blocked is a resource that callers wait for, with its holder, and the chain of what
// that holder itself waits for. A call holds a lease if its context descends from that lease (see [lock.HeldLeases]).
// Deadlocks are reported as soon as an engine reports one (locktrace.Trace). Those between engines are reported once two
// looks have seen the same cycle. A deadlock stays listed for ten minutes after it is over.
//
// A waiter names the lease of the Board that it waits for. If there is none, it names the holder that its last
// refusal named. If that was a lease of the Board that has ended since, the refusal is out of date and nobody is
// named.
//
// Lockers of one Board may use several sets of nodes, on which one resource name means several locks.
// [locktrace.Backend].Keyspace tells them apart. Engines on the same servers with the same prefix share the first name
// that one of them gives ([lock.WithBackend], or the system's name). A second set of that name gets a number
// appended. The set is unknown for Lockers without a Trace.
//
// # History of waits
//
// Once a second, a Board counts the calls that wait by resource, class, call site and holder, and keeps the counts for
// an hour: see [Board.WaitHistory]. A call counts as waiting as in a State, after 100 ms if its Locker does not report
// what it does. The timer runs only while calls of Acquire are under way, and ends by itself within a second.
//
// # Who makes others wait
//
// State.Inflicted lists the holders behind which calls of this Board waited longest in the last ten minutes.
// [Board.Profile] has all waits since the start, by the stack that waited or by the holder. Both include waits of calls
// that have not returned. Callers that wait for their turn behind another caller of the process are charged to the
// holders that held the lock meanwhile. Time without a quorum is charged to no holder.
//
// # Bounds
//
// Memory is bounded. Each held lock and each waiter takes a record until it ends, and everything else has a fixed
// size. Past holders of contended resources are kept for ten minutes: the latest 50 of a resource, of at most 256
// resources, and 500 in a State. Profiles take 1.2 MB at most, or 4.7 MB with the longest names. The history of waits
// takes at most 24 MiB, and next to nothing while the same calls wait; if that is not enough for an hour, the oldest
// samples go first. Timelines of 32 contended resources have 4,096 events each: 0.6 MB a resource and 19 MB for all, or
// twice as much if nearly every event is another failure. No goroutine runs in the background. No owner token is ever
// kept, because neither a lease nor a trace event has one.
package live
