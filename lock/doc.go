// Package lock provides distributed locks for production. Leases are renewed automatically,
// carry fencing tokens and signal their loss. Waiting costs the servers almost nothing, and
// traces show which caller waits for which holder.
//
// This package defines the API: [Locker], [Lease], [Do], options and errors. Package locktrace defines hooks for the
// steps of the algorithm. Other packages make the Locker: redlock on Redis, pglock on PostgreSQL, etcdlock on etcd,
// zklock on ZooKeeper, redsynclock on redsync, and memlock in memory, for tests.
//
//	locker, err := redlock.Open([]string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"})
//	...
//	err = lock.Do(ctx, locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
//		return orders.Charge(ctx, 1001, lease.Fence())
//	})
//
// # The promise
//
// A resource has at most one valid lease at any time, if clock rates agree within 1 % and no node
// loses locks unnoticed. Fencing tokens only increase, whatever clocks and processes do, so a store
// that refuses lower tokens is safe.
//
// # The exact form
//
// At most one lease per resource is valid at any time, while the clocks of clients and nodes run at the same rate, to
// within 1 % of one another, and are not stepped, and no node that lost its data votes before its quarantine ends.
// Without any timing assumption, as long as the nodes keep their counters, fencing tokens are unique and increase from
// one grant to the next; a lease passed on inside one process gets the next number reserved with that grant. So a
// resource that rejects lower tokens is safe. A lost lease is signalled no later than its validity ends, by a local
// timer that needs no network, as soon as the process gets to run.
//
// # Errors and units
//
// Test errors with [errors.Is] against the Err variables, or map them to one word with
// [ReasonOf]. [HeldError], [QuorumError], [WaitError], [DeadlockError] and [ReleaseError] give the
// details. Durations are [time.Duration] values, and a [Locker] or [Lease] may be used by many
// goroutines at once.
//
// # More
//
// Package engine describes the algorithm, its assumptions, and which broken assumptions are detected.
package lock
