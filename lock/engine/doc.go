// Package engine is the algorithm of package lock: a quorum of nodes, of any driver, decides.
// Callers get an [Engine] from a driver, such as package redlock, and seldom name it. To write a
// driver, implement package driver's Node, and make an engine on a set of nodes with
// [NewSettings], [Settings.ForDriver] and [Settings.NewEngine]. ARCHITECTURE.md, in the folder lock,
// describes the code.
//
// The documentation of package lock states what the engine promises.
//
// # Faults
//
// Covered: the promise still holds. Detected: the promise may be broken, and errors, traces
// and metrics report it. Neither: only the fencing token protects the resource. The faults of
// servers are listed by their driver: package redlock continues this table for Redis.
//
//	clients and nodes die, hang, or are cut off   covered; a majority of nodes is needed for
//	  from one another                            progress, none for safety
//	messages are lost, late, overtaken or         covered
//	  repeated
//	a process is paused, a machine suspended      covered on Linux: validity counts suspended
//	                                              time. Where there is no CLOCK_BOOTTIME:
//	                                              neither
//	a virtual machine is suspended, moved or      neither, if its clocks do not show it
//	  restored from a snapshot, as a client or
//	  as a node
//	clock rates differ by up to 1 % from one      covered: 1 % of the TTL and 2 ms are not used
//	  another
//	clock rates differ by more                    neither
//	processes disagree on the set of nodes, or    neither: stop the old ones for a MaxTTL
//	  on MaxTTL
//	a driver that has no fence counters           its leases have fence 0: no token protects
//
// # How it works
//
// An attempt sends a request with its own token to all nodes at once, and decides as soon as
// the outcome is certain. A quorum of grants makes a lease. It is valid for the TTL, less the
// time that the attempt took and the drift bound. The fencing token is the largest of the
// quorum's counters. The engine raises the lower counters, so any two acquisitions are ordered
// by the node that their quorums share. A failed attempt is undone on every node that may have
// granted it, in order, and with a tombstone where the outcome is unknown.
//
// A refused caller queues on one node, the resource's gate. A release takes the
// next waiter from the queue, reserves the lock for it for a moment and sends a message
// to its process alone. If the message is lost, the waiter polls, or waits until the holder's
// TTL has run out. A dead waiter, gate or holder costs latency, never liveness.
//
// So processes are served in the order of that queue, with these exceptions:
//
//   - A waiter loses its turn if it gives up, if its process has no subscription, or if it does
//     not ask within 50 ms of its message. A gate that is wiped, or that does not answer, loses
//     the queue.
//   - A lock that becomes free without a release goes to the caller that asks first.
//   - With several nodes, a caller that asks all of them in the instant between two holders can win,
//     unless it is Fair. So can a caller that looks again after a poll interval without news.
//   - A process hands the lock over among its own callers, as described below.
//
// Callers of one process that queue for one resource hand the lock over among
// themselves without asking a node. The caller that waits first gets it if
//
//   - the grant is less than 10 ms old,
//   - both ask for the same TTL, are renewed and not Fair,
//   - two thirds of the validity are left.
//
// Each caller has a lease of its own, with the next fence of the run that the grant reserved
// on a quorum. A lease that was handed over writes its own holder record into the lock, unless
// it ends within a few milliseconds.
//
// A lease is renewed after a quarter to a third of its TTL, at random, so that leases acquired together are not
// renewed together. Its context is cancelled when it is released, lost, or held for longer than MaxHold.
//
// The algorithm of the vote is the one described in the Redis documentation as
// Redlock, https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/.
package engine
