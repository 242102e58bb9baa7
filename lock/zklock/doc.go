// Package zklock is the driver of package lock for ZooKeeper: a lock is a queue of
// ephemeral sequential nodes, of which the first holds it. Names and order are those of
// zk.Lock and of Curator's InterProcessMutex, so that theirs and this exclude each
// other, and wait in one queue.
//
//	locker, err := zklock.New([]string{"zk1:2181", "zk2:2181", "zk3:2181"})
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// # What it promises
//
// The ensemble is one node to the engine, and votes by itself. While it keeps what a
// majority of its servers has acknowledged, and the clocks of its servers and of the
// clients run within the drift bound, at most one lease per resource is valid at any
// time. As long as it is not made anew from an older snapshot, fencing tokens are unique
// and increase from one acquisition to the next, without any assumption on time.
//
//	the TTL                       is the lease's, and kept by this process: a place that nobody
//	                              prolongs is deleted when it ends. Where the process has died it goes
//	                              with its session, which is two and a half times lock.WithMaxTTL, and a
//	                              tick
//	a TTL above WithMaxTTL        refused, and one above LongestTTL of what the ensemble allows a session
//	                              (maxSessionTimeout): a leader's knowledge of a session may be as old as
//	                              a heartbeat, a third of it, and what a server passes on every half tick
//	a server dies, or leads no    the session goes on at another. A lease lives if that takes less
//	more                          than its TTL
//	a server lags behind          it is told what it may not say: grants follow a write, or a sync, not
//	                              longer ago than the session is sure to live, and extensions are writes
//	an answer that does not come  the place is found by the GUID in its name, after a sync, or removed:
//	                              by this process, as long as it lives, and with its session
//	the ensemble is made anew     without its data: noticed with the next session, and tokens begin from
//	                              the clock. They are ahead of that by 72 minutes for each election there
//	                              was, and may repeat if there were more. From a snapshot: not detected
//	order                         first come, first served, processes of zk.Lock and Curator included;
//	                              lock.Fair changes nothing
//	Close with a lock held        ends the connection and not the session, for the work may be running
//
// The change that makes a place writes to the node above it, to learn its own number: what
// data that node has is emptied.
//
// A caller with lock.NoWait that is refused has made a place and deleted it: two writes.
//
// # Where what is
//
//	New                       zklock.go
//	options                   options.go
//	a request                 node.go
//	taking a place            enter.go, place.go, names.go
//	who is in front           look.go, watch.go
//	fencing tokens            fence.go
//	session and connection    session.go, link.go, calls.go, wire.go
//	why there is none         reach.go
//	answers that come late    late.go
//	what failed               errors.go
package zklock
