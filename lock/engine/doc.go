// Package engine is the algorithm of package lock, over the nodes of any driver: it decides by
// a quorum of them. Callers name [Engine] at most, and get one from a driver: see package
// redlock. Who writes a driver implements package driver's Node, and makes an engine on a set
// of them with [NewSettings], [DriverSettings] and [Settings.NewEngine]. ARCHITECTURE.md, in
// the folder lock, walks through it.
//
// What the engine promises is in the documentation of package lock.
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
package engine
