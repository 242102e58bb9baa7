// Package lock is a distributed lock on Redis: one node, or Redlock over a quorum
// of independent nodes, with fencing tokens, renewal, a signal when a lease is
// lost, and waiting that costs next to nothing.
//
//	locker, err := lock.Open([]string{"redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "redis://10.0.0.3:6379"})
//	...
//	err = lock.Do(ctx, locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
//		return orders.Charge(ctx, 1001, lease.Fence())
//	})
//
// # The promise
//
// While clocks of clients and of a majority of nodes run at true rate within the
// drift bound, and no node rejoins with lost state before its quarantine ends, at
// most one lease per resource is valid at any time. Without any timing
// assumption, as long as the nodes keep their counters, fencing tokens are unique
// and increase from one acquisition to the next, so a resource that rejects lower
// tokens is safe. A lost lease is signalled before its validity ends, by a local
// timer that needs no network.
//
// The drift bound is 1 % of the TTL plus 2 ms. Not covered are eviction policies
// other than noeviction, stepping a node's clock, and replicas that are promoted
// without the writes their master acknowledged (Sentinel, Redis Cluster): there
// only the fencing token protects, as far as the counter itself was replicated.
//
// # How it works
//
// An attempt sends a script with a token of its own to all nodes at once and
// decides as soon as the outcome is certain. A quorum of grants makes a lease,
// valid for the TTL less the time the attempt took and the drift bound. The
// fencing token is the largest of the quorum's counters, written back where it
// was lower, so that two acquisitions, whose quorums share a node, are ordered
// there. A failed attempt is undone on every node that may have granted it, in
// order and with a tombstone where the outcome is unknown.
//
// A refused caller queues on one node, the resource's gate. A release takes the
// next waiter from the queue, keeps the lock for it for a moment and names it in
// a message to its process alone. Polls and the holder's remaining TTL stand in
// for messages that are lost; so a dead waiter, a dead gate or a dead holder cost
// latency and never liveness.
//
// A lease is renewed every third of its TTL. Its context is cancelled when it is
// released, lost, or held for longer than MaxHold.
//
// The algorithm of the vote is the one described in the Redis documentation as
// Redlock, https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/.
//
// # What lies in Redis
//
// The lock is a string at "lock:" + resource. All else is outside that prefix and
// in the lock key's hash slot: fence counters at lockscope:fence:{n}, which never
// expire and are at most 16384 to a node; queues at lockscope:queue:{key}, the
// waiter a lock is kept for at lockscope:next:{key}, and tombstones at
// lockscope:tomb:{key}:token, which all expire.
package lock
