// Package zklock stores the locks of package lock in ZooKeeper. A lock is a queue of ephemeral
// sequential nodes, and the first one holds it. Names and order are those of zk.Lock and of
// Curator's InterProcessMutex: all three exclude each other and wait in one queue.
//
//	locker, err := zklock.New([]string{"zk1:2181", "zk2:2181", "zk3:2181"})
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// # What it promises
//
// The ensemble is one node to the engine: its own majority is the quorum. At most one lease per
// resource is valid at any time while
//   - the ensemble keeps what a majority of its servers has acknowledged; and
//   - the clocks of its servers and of the clients run within the drift bound.
//
// As long as the ensemble is not restored from an older snapshot, fencing tokens are unique and
// increase from one acquisition to the next, without any assumption about time.
//
//	the TTL                       is kept by the holder's process, which deletes the place when the lease
//	                              ends without renewal. If the process dies, the place lives as long as
//	                              the session: two and a half times lock.WithMaxTTL, plus a tick
//	a TTL above WithMaxTTL        refused. So is a TTL above LongestTTL of the session that the ensemble
//	                              allows (maxSessionTimeout): the leader's view of a session may lag by a
//	                              heartbeat, a third of the session, and by half a tick
//	a server dies, or stops       the session moves to another server. A lease survives if that takes less
//	leading                       than its TTL
//	a server lags behind          its stale reads grant nothing: a grant needs a write or a sync that is
//	                              recent enough for the session to be alive, and extensions are writes
//	an answer is lost             the place is found after a sync, by the GUID in its name, or removed: by
//	                              this process while it lives, and otherwise with its session
//	the ensemble is rebuilt       without its data: detected with the next session, and tokens start from
//	                              the clock. Earlier tokens are ahead of the clock by 72 minutes for each
//	                              election, so tokens may repeat if there were more. From a snapshot: not
//	                              detected
//	order                         first come, first served, including processes of zk.Lock and Curator;
//	                              lock.Fair changes nothing
//	Close with a lock held        ends the connection but not the session, since the work may still run
//
// Creating a place also writes to the node above it, to learn the number of the transaction. That
// empties the node's data.
//
// A caller with lock.NoWait that is refused has created a place and deleted it: two writes.
//
// # Read/write locks and semaphores
//
// A reader (package rwlock) is a place with -read-lock- in its name, as in ZooKeeper's recipe for shared
// locks. It holds the lock if all places in front are readers'; every other place waits for all in front. So
// readers that come after a writer wait behind it, as they do behind zk.Lock and InterProcessMutex. Each
// reader has a fencing token of its own. Curator's InterProcessReadWriteLock uses other names: do not mix them.
// A TryLock that is refused keeps out readers for the moment of its call, since it has created a place.
//
// The number of slots of a semaphore (package semaphore) is a node below the root, ;slots; and the name. The
// transaction that takes a place or renews one checks its version. semaphore.Resize changes it. ZooKeeper has no
// expiry for such nodes, so the number is never forgotten: delete the node of a semaphore that nobody uses.
//
// # Revoking a lease
//
// engine.Engine.Revoke writes a mark into the data of the holder's place. A renewal expects the data that its process
// wrote last, so it finds the mark instead. The place exists until its holder releases it or its TTL ends. Places of
// zk.Lock and Curator are refused with errors.ErrUnsupported, since those look for no mark. RevokeReaders marks the
// places of readers.
//
// Revocation.FreeIn is the TTL and one and a half sessions of the holder: its process may die before it deletes
// the place. A new leader begins all sessions anew, and so may add a session. With a holder that lives, the lock is free
// within the TTL.
//
// # Where to find what
//
//	New                       zklock.go
//	options                   options.go
//	requests                  node.go
//	renewal                   extend.go
//	revoked leases            revoke.go
//	taking a place            enter.go, place.go, names.go
//	the place in front        look.go, watch.go
//	data of places            record.go
//	numbers of slots          slots.go
//	fencing tokens            fence.go
//	session and connection    session.go, link.go, calls.go, wire.go
//	unreachable servers       reach.go
//	late answers              late.go
//	classes of errors         errors.go
package zklock
