// Package etcdlock is the driver of package lock for etcd: a lock is the oldest key below a
// prefix, as concurrency.Mutex of etcd's own client has it, and the two exclude each other.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second})
//	locker, err := etcdlock.New(client)
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// The client writes what fails to stderr unless its Config has a Logger of zap: the driver leaves that as it is.
//
// # What it promises
//
// The cluster is one node: its own majority is the quorum. While it keeps what it has
// committed, and the clocks of clients and of the member that leads run at true rate within
// the drift bound, at most one lease per resource is valid at any time. Fencing tokens are
// unique and increase from one acquisition to the next, without any assumption on time, as
// long as the cluster keeps its revisions.
//
//	a member killed or stopped    fewer than half of them cost time, and no lock: calls that hang are sent to
//	                              another member after a third of the node timeout. Waiters whose watch
//	                              was there look again every lock.WithPollInterval: DialKeepAliveTime ends that
//	no majority                   nothing is granted or extended; leases are lost in time, by local timers
//	a leader that stood still     may take a keep-alive when it no longer leads: not believed, for what is read
//	                              after it has to be of the same term. It may also revoke what others have
//	                              prolonged since (releases before the end of 2023, etcd-io/etcd#15247): in a new
//	                              term each renewal moves the key to a new lease, of which it does not know
//	a lease revoked by hand,      not detected before the next renewal: two leases may be valid until then
//	a key deleted by hand
//	a restored snapshot           locks granted since are forgotten, and two leases may be valid until the old
//	                              one's next renewal. Told (Trace.NodeRestart) by a process that has seen more,
//	                              which has the tokens go on above all before. If none has, tokens may repeat
//	                              where the snapshot was less than two minutes old
//	plain concurrency.Mutex       excludes and is excluded, in one queue: see [MutexPrefix]. It does not notice
//	                              the loss of its session by itself, and has no validity
//	space exceeded (NOSPACE)      nothing is granted; leases are extended and released
//
// # How it works
//
// Each claim is a key prefix/lease with an etcd lease of the TTL, rounded up, and one second:
// validity is counted by the holder, and ends before. A lease that is idle serves the next
// claim, so that an acquire and its release are two proposals. To acquire, a transaction puts
// the key where no other is, or behind the others; whoever waits is told by a watch on the
// prefix, which stays open while the resource is contended, when all keys before its own are
// gone. Where a call was not answered, the lease is revoked: nothing late can be put under it.
//
// Tokens are the revision that made the key, on a base in microseconds that is read in the
// same transaction and raised when it is a minute behind the clock: who moves here from Redis
// sees them rise. A lock is not handed over inside a process: revisions cannot be reserved.
//
// # Where what is
//
//	New                        etcdlock.go
//	options                    options.go, keys.go
//	requests                   node.go, claim.go
//	waiting, being told        queue.go, watch.go
//	leases of etcd             lease.go
//	fencing tokens             fence.go
//	what failed, tries again   errors.go, retry.go
//	no connection, and why     reach.go
//	what a process knows       state.go
package etcdlock
