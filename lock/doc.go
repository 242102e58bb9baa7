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
// While the clocks of clients and nodes run at the same rate, to within 1 % of one
// another, and are not stepped, and while no node votes that has lost state before its
// quarantine is over, at most one lease per resource is valid at any time. Without any
// timing assumption, as long as the nodes keep their counters, fencing tokens are
// unique and increase from one acquisition to the next, so a resource that rejects
// lower tokens is safe. A lost lease is signalled no later than its validity ends, by a
// local timer that needs no network, as soon as the process gets to run.
//
// # What is assumed, and what is noticed
//
// Covered means that the promise holds. Told means that it may not, and that errors,
// traces and metrics say so when it happens. Where it says neither, only the fencing
// token protects a resource.
//
//	clients and nodes die, hang, or are cut off from one another     covered; a majority of nodes is
//	                                                                 needed for progress, none for safety
//	messages are lost, late, overtaken or repeated                   covered
//	a process is paused, a machine suspended                         covered on Linux: validity counts suspended
//	                                                                 time. Where there is no CLOCK_BOOTTIME: neither
//	a virtual machine is suspended, moved or restored from a         neither, where its clocks do not tell
//	snapshot, as a client or as a node
//	clock rates differ by up to 1 % from one another                 covered: 1 % of the TTL and 2 ms are not used
//	clock rates differ by more                                       neither
//	a node's clock is stepped                                        neither, but for a step at a restart that
//	                                                                 claims an uptime from before this process
//	                                                                 last heard of the node
//	three nodes or more: one restarts, with or without its data,     covered: it does not vote for MaxTTL, 1 % and
//	its disk replaced or an old one restored                         2 ms, by the uptime it tells, less a second
//	one or two nodes: one restarts                                   told; covered with WithRestartQuarantine
//	FLUSHALL; REPLICAOF and back; a snapshot restored in place       neither
//	a Sentinel switches masters                                      followed within a second, and told; three
//	                                                                 groups or more: covered in processes that
//	                                                                 knew the former master
//	a Redis Cluster promotes a replica, or loses a master            neither
//	processes disagree on the set of nodes, or on MaxTTL             neither: stop the old ones for a MaxTTL
//	one server under two names, a replica, a policy that evicts      refused
//	a proxy that answers for servers                                 refused where its INFO has no run_id or role,
//	                                                                 else neither
//	a node loses its fence counters                                  tokens go on from the clock, which is kept
//	                                                                 within 10 s of the node's; told as a restart
//	a fence counter is no number, or at 2^53                         refused
//	an operator vouches for nodes that may have forgotten locks      neither: see [Vouch]
//
// WithoutGuard turns what is covered or told by looking at nodes into neither.
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
// lockscope:tomb:{key}:token, which all expire. lockscope:life says that somebody
// vouched for the server, and does not.
package lock
