// Package etcdlock stores the locks of package lock in etcd. The oldest key below a prefix holds
// the lock, as in concurrency.Mutex of etcd's own client, and the two exclude each other.
//
//	client, err := clientv3.New(clientv3.Config{
//		Endpoints: endpoints, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second,
//	})
//	locker, err := etcdlock.New(client)
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// The client logs failures to stderr unless its Config has a zap Logger. The driver does not change that.
//
// # What it promises
//
// The cluster is one node: its own majority is the quorum. At most one lease per resource is valid
// at any time while
//   - the cluster keeps everything it has committed; and
//   - the clocks of clients and of the leader run at true rate within the drift bound.
//
// As long as the cluster keeps its revisions, fencing tokens are unique and increase from one
// acquisition to the next, without any assumption about time.
//
//	a member killed or stopped    fewer than half of the members cost time, but no lock: a call
//	                              that hangs is repeated on another member after a third of the
//	                              node timeout. Waiters whose watch was on that member poll
//	                              every lock.WithPollInterval, until DialKeepAliveTime ends the
//	                              connection
//	no majority                   nothing is granted or extended; leases are lost in time, by
//	                              local timers
//	a leader that stood still     may accept a keep-alive after it lost the lead. The keep-alive
//	                              does not count, since a later read must be of the same term.
//	                              It may also revoke leases that were renewed since (etcd before
//	                              the end of 2023, etcd-io/etcd#15247), so in a new term each
//	                              renewal moves the key to a new lease, unknown to the old
//	                              leader. A lease whose answer may be of a later term than its
//	                              grant is moved as well
//	a lease revoked by hand, a    not detected before the next renewal: two leases may be valid
//	  key deleted by hand         until then
//	a restored snapshot           later locks are forgotten, and two leases may be valid until
//	                              the old one's next renewal. Any process that has seen a later
//	                              revision reports it (Trace.NodeRestart) and makes tokens
//	                              continue above all earlier ones. If there is no such process,
//	                              tokens may repeat if the snapshot was less than two minutes
//	                              old
//	plain concurrency.Mutex       shares one queue and excludes both ways: see [MutexPrefix]. It
//	                              does not detect the loss of its session by itself, and has no
//	                              validity
//	space exceeded (NOSPACE)      nothing is granted; leases are extended and released
//
// # How it works
//
// Each claim is a key prefix/lease with an etcd lease. The etcd lease lasts for the TTL, rounded up,
// plus one second; the holder counts its validity, which ends earlier. An idle etcd lease serves
// the next claim, so an acquire and its release are two proposals.
//
// To acquire, a transaction puts the key if there is no other, or behind the others. A waiter
// learns from a watch on the prefix when all keys before its own are gone. The watch stays open while
// the resource is contended. If a call gets no answer, its etcd lease is revoked, so that no late
// key can appear.
//
// A token is the revision that created the key plus a base in microseconds. The same
// transaction reads the base, which is raised when it falls a minute behind the clock. So tokens
// rise when you move here from Redis. Locks are not handed over inside a process, since revisions
// cannot be reserved.
//
// # Read/write locks and semaphores
//
// A reader (package rwlock) is a claim whose key has an r before the lease. It holds the lock if no other
// claim is older, except readers; every other claim waits for all that are older. So a writer that waits is
// older than the readers that come later, and they wait behind it, as they do behind a plain Mutex. Each
// reader has a fencing token of its own: the revision of its key.
//
// The number of slots of a semaphore (package semaphore) is the key prefix/slots/name#k, whose lease lasts a
// day after the last use. The transaction that claims a slot compares it, and so does each renewal.
// engine.Engine.Resize changes it.
//
// # Revoking a lease
//
// engine.Engine.Revoke writes a mark, prefix/marks/name/mN, where N is the revision that created the holder's
// claim. Each renewal is proved by a transaction, which reads the mark too. A renewal that was sent before may still
// reach the leader, so the lock is free a whole TTL later at the latest. A revoke of readers writes a mark for each.
// A plain Mutex cannot be revoked.
//
// # Where to find what
//
// Calls go down this list, whose packages are below internal.
//
//	etcdlock   New, options, lists of locks
//	node       the engine's requests and the replies to them
//	claims     the protocol: directories of claims, waiting, fencing tokens, numbers of slots, marks
//	store      the client: transactions, etcd leases, watches, error classes, retries
package etcdlock
