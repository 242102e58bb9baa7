// Package lock is a distributed lock for production: fencing tokens, renewal, a signal
// when a lease is lost, waiting that costs next to nothing, and traces that say who
// waits for whom. It holds what callers see ([Locker], [Lease], [Do], errors, [Trace])
// and the [Engine] behind it, which decides by a quorum of the nodes of any driver.
// Package redlock is the driver for Redis.
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
// # What is assumed, and what is noticed
//
// Covered means that the promise holds. Told means that it may not, and that
// errors, traces and metrics say so when it happens. Where it says neither,
// only the fencing token protects a resource. What servers may do is the driver's to
// say: package redlock goes on with this table for Redis.
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
//	processes disagree on the set of nodes, or on MaxTTL             neither: stop the old ones for a MaxTTL
//	a driver that has no fence counters                              its leases have fence 0: no token protects
//
// # How it works
//
// An attempt sends a request with a token of its own to all nodes at once and
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
// Callers of one process that queue for one resource hand the lock over among
// themselves, for up to 10 ms after a grant, without asking a node: only to the one that
// waits first, and only if both ask for the same TTL, are renewed and not Fair, and two
// thirds of the validity are left. Each has a lease of its own. The grant has reserved a run
// of fences for that, which a quorum's counters stand behind; one that lives on writes its
// own name into the lock.
//
// A lease is renewed every third of its TTL. Its context is cancelled when it is
// released, lost, or held for longer than MaxHold.
//
// The algorithm of the vote is the one described in the Redis documentation as
// Redlock, https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/.
//
// # Where things are
//
//	Locker, Lease; Do; Reentrant             lock.go; do.go; reentrant.go
//	errors, the reason in one word           errors.go, errortypes.go, reason.go
//	what is told while it happens            trace.go, operation.go, tracers.go
//	options and what they add up to          options.go, acquireoptions.go, settings.go
//	Engine: nodes, queues, leases            engine.go, enginenew.go
//	one Acquire: attempts and waits          acquisition.go, gate.go, wait.go, backoff.go
//	callers and calls of one resource        queue.go, queues.go, turn.go, callqueue.go
//	hand-over between callers of a process   handover.go
//	who waits holding what; deadlocks        holding.go, waiting.go, callsite.go; deadlock.go
//	one attempt: votes, fence, undoing       attempt.go, vote.go, ballot.go, quorum.go, fence.go, grant.go
//	what a node has been answering           node.go
//	a lease: renewal, loss, release          lease.go, renew.go, release.go, and their calls
//	goroutines; drivers that block           workers.go; async.go
//	clocks, timers, names                    clock.go, await.go, token.go, holder.go, resource.go
//
// ARCHITECTURE.md, beside these, walks through them.
package lock
