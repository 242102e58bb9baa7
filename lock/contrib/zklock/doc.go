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
//	the TTL                       is kept by the holder's process, which deletes the claim when the lease
//	                              ends without renewal. If the process dies, the claim lives as long as
//	                              the session: two and a half times lock.WithMaxTTL, plus a tick
//	a TTL above WithMaxTTL        refused. So is a TTL above LongestTTL of the session that the ensemble
//	                              allows (maxSessionTimeout): the leader's view of a session may lag by a
//	                              heartbeat, a third of the session, and by half a tick
//	a server dies, or stops       the session moves to another server. A lease survives if that takes less
//	leading                       than its TTL
//	a server lags behind          its stale reads grant nothing: a grant needs a write or a sync that is
//	                              recent enough for the session to be alive, and extensions are writes
//	an answer is lost             the claim is found after a sync, by the GUID in its name, or removed: by
//	                              this process while it lives, and otherwise with its session
//	the ensemble is rebuilt       without its data: detected with the next session, and tokens start from
//	                              the clock. Earlier tokens are ahead of the clock by 72 minutes for each
//	                              election, so tokens may repeat if there were more. From a snapshot: not
//	                              detected
//	order                         first come, first served, including processes of zk.Lock and Curator;
//	                              lock.Fair changes nothing
//	Close with a lock held        ends the connection but not the session, since the work may still run
//
// Creating a claim also writes to the node above it, to learn the number of the transaction. That
// empties the node's data.
//
// A caller with lock.NoWait that is refused has created a claim and deleted it: two writes.
//
// # Read/write locks and semaphores
//
// A reader (package rwlock) is a claim with -read-lock- in its name, as in ZooKeeper's recipe for shared
// locks. It holds the lock if all claims in front are readers'; every other claim waits for all in front. So
// readers that come after a writer wait behind it, as they do behind zk.Lock and InterProcessMutex. Each
// reader has a fencing token of its own. Curator's InterProcessReadWriteLock uses other names: do not mix them.
// A TryLock that is refused keeps out readers for the moment of its call, since it has created a claim.
//
// The number of slots of a semaphore (package semaphore) is a node below the root, ;slots; and the name. The
// transaction that makes a claim or renews one checks its version. engine.Engine.Resize changes it. ZooKeeper has no
// expiry for such nodes, so the number is never forgotten: delete the node of a semaphore that nobody uses.
//
// # Revoking a lease
//
// engine.Engine.Revoke writes a mark into the data of the holder's claim. A renewal expects the data that its process
// wrote last, so it finds the mark instead. The claim exists until its holder releases it or its TTL ends. Claims of
// zk.Lock and Curator are refused with errors.ErrUnsupported, since those look for no mark. A revoke of
// readers marks their claims.
//
// Revocation.FreeIn is the TTL and one and a half sessions of the holder: its process may die before it deletes
// the claim. A new leader begins all sessions anew, and so may add a session. With a holder that lives, the lock is free
// within the TTL.
//
// # Where to find what
//
// Calls go down this list, whose packages are below internal.
//
//	zklock   New, options, lists of locks
//	node     the engine's requests and the replies to them
//	claims   the protocol: queues of claims, renewal, waiting, fencing tokens, numbers of slots, marks
//	store    the client: session and connection, repeated calls, late answers, unreachable servers
package zklock
