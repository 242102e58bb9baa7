// Package lock is a distributed lock for production: fencing tokens, renewal, a signal when a
// lease is lost, waiting that costs next to nothing, and traces that say who waits for whom.
// This package is what callers see. Package redlock makes a Locker on Redis, package memlock
// one in memory; there are others for PostgreSQL, etcd, ZooKeeper and redsync.
//
//	locker, err := redlock.Open([]string{"redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "redis://10.0.0.3:6379"})
//	...
//	err = lock.Do(ctx, locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
//		return orders.Charge(ctx, 1001, lease.Fence())
//	})
//
// # The promise
//
// While the clocks of clients and nodes run at the same rate, to within 1 % of one
// another, and are not stepped, and while no node votes that has lost state before its
// quarantine is over, at most one lease per resource is valid at any time. Without any
// timing assumption, as long as the nodes keep their counters, fencing tokens are
// unique and increase from one grant to the next; a lease handed over inside a process
// takes the next of its grant's run. So a resource that rejects lower tokens is safe. A
// lost lease is signalled no later than its validity ends, by a local timer that needs
// no network, as soon as the process gets to run.
//
// # More
//
// Package engine says how it works, what is assumed, and what is noticed if it does not hold.
package lock
