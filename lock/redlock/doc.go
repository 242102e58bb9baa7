// Package redlock provides the locks of package lock on Redis: on a single node, or as a Redlock
// on a quorum of independent nodes. [New] takes go-redis clients and [Open] takes URLs. Package lock
// describes the locker that they return.
//
// # Which faults of Redis are covered or detected
//
// This table continues the one of package engine. Covered: the promise still holds. Detected: the
// promise may be broken, and errors, traces and metrics report it. Neither: the promise may be
// broken, and nothing reports it. Refused: the node does not vote.
//
//	a node's clock is stepped                     neither; covered if the node is in quarantine
//	                                              for more than another MaxTTL, and the callers'
//	                                              clocks are not stepped
//	three nodes or more: one restarts, with or    covered: it does not vote for MaxTTL, 1 % and
//	  without its data, its disk replaced or an   2 ms, and at least 15 s, by its clock and by
//	  old one restored; FLUSHALL; REPLICAOF       the callers'
//	  another node and back
//	one or two nodes: one restarts                detected; covered with WithRestartQuarantine
//	one or two nodes: FLUSHALL, REPLICAOF and     neither; covered with WithRestartQuarantine
//	  back
//	a node's own older data is restored while it  neither
//	  runs: key by key, by DEBUG RELOAD NOSAVE,
//	  SWAPDB, or by a promotion of its copy
//	three nodes or more: processes disagree       refused; neither if the nodes that are not
//	  about the nodes or MaxTTL                   common are a quorum: see [Reconfigure]
//	a process names only one or two nodes of a    refused, the set's marker decides; neither
//	  set of three or more                        after a node was emptied, until a process of
//	                                              the set asks it
//	a Sentinel switches masters                   followed within a second, and detected; three
//	                                              groups or more: covered in processes that knew
//	                                              the former master
//	a Redis Cluster promotes a replica, or loses  neither
//	  a master
//	one server under two names; a replica; a      refused
//	  maxmemory-policy that evicts, or that the
//	  server does not report
//	a running node becomes a replica, or gets a   detected with the first vote that is a second
//	  policy that evicts                          or more after the last check; refused from
//	                                              then on
//	three nodes or more: a node has evicted       detected in the same way, even if the policy
//	  keys, perhaps under a policy that was       was corrected; covered from then on, like a
//	  corrected since                             restart. Votes of the second before the check:
//	                                              neither
//	one or two nodes, or a Redis Cluster: a node  detected (not in a Redis Cluster); covered
//	  has evicted keys                            with WithRestartQuarantine
//	a proxy that answers for servers              refused if its INFO has no run_id or role,
//	                                              else neither
//	a node loses its fence counters               tokens continue from the clock, which is kept
//	                                              within 10 s of the node's; detected as a
//	                                              restart
//	a fence counter is not a number, or is at     refused
//	  2^53
//	an operator vouches for nodes that may have   neither: see [Vouch], [VouchRestarted]
//	  forgotten locks
//
// # Servers without a run_id
//
// A server whose INFO has no run_id is refused. With [WithMarkerIdentity] it votes, and these lines of the table
// change:
//
//	it restarts with all its data                 covered: no lock was forgotten
//	it restarts without data, or is flushed       as above
//	it restarts with older data: an old disk, a   neither
//	  lost end of the append-only file
//	it is replaced by a copy of its own           neither
//	one server under two names                    refused, from the first vote on
//	it follows another node of the set and is     refused while both can be reached, else
//	  promoted                                    neither
//	it has evicted keys                           as above, if it reports evicted_keys; else
//	                                              neither
//
// A server that does not report its maxmemory-policy is refused, too: see [WithoutEviction].
//
// With [WithoutGuard], faults that are covered or detected by checking the nodes become neither.
//
// # Keys in Redis
//
// The lock is a string at "lock:" + resource. The readers of a read/write lock are a hash there. All other keys are
// outside that prefix and in the hash slot of the lock's key:
//   - lockscope:fence:{n}, the fence counters, never expire; a node has at most 16384
//   - lockscope:queue:{key}, the queue of waiters, expires
//   - lockscope:next:{key}, the waiter that a lock is reserved for, expires
//   - lockscope:readers:{key}, the index of the readers by token and by expiry, expires with them
//   - lockscope:bars:{key}, the writers that wait and keep later readers out, expires
//   - lockscope:tomb:{key}:digest, a tombstone of the token with that SHA-1, expires. If the lease was revoked, it says
//     by whom and why
//   - lockscope:slots:{prefix and name}, the number of slots of a semaphore, expires a day after the last use at the
//     latest, or twice the MaxTTL if that is more. It does not exist in a Redis Cluster
//
// lockscope:life is the server's marker. It proves that the server remembers its locks, and names the nodes and the
// MaxTTL for which it votes.
package redlock
