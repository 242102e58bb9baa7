// Package redlock makes the locks of package lock on Redis: one node, or Redlock over a
// quorum of independent nodes. [New] takes go-redis clients, [Open] URLs; what they
// return, and everything a lock does, is described in package lock.
//
// # What is assumed of Redis, and what is noticed
//
// This goes on with the table of package engine, in the same words.
//
//	a node's clock is stepped                                        neither; covered while it keeps silent and has
//	                                                                 longer than a MaxTTL to go, if the callers'
//	                                                                 clocks are not stepped, too
//	three nodes or more: one restarts, with or without its data,     covered: it does not vote for MaxTTL, 1 % and
//	its disk replaced or an old one restored; FLUSHALL; REPLICAOF    2 ms, and at least 15 s, by its clock and by
//	another node and back                                            the callers'
//	one or two nodes: one restarts                                   told; covered with WithRestartQuarantine
//	one or two nodes: FLUSHALL, REPLICAOF and back                   neither; covered with WithRestartQuarantine
//	a node's own older data put back while it runs: key by key,      neither
//	by DEBUG RELOAD NOSAVE, SWAPDB, or by a promotion of its copy
//	three nodes or more: processes disagree about the nodes or       refused; neither where the nodes that are not
//	MaxTTL                                                           common are a quorum: see [Reconfigure]
//	a Sentinel switches masters                                      followed within a second, and told; three
//	                                                                 groups or more: covered in processes that
//	                                                                 knew the former master
//	a Redis Cluster promotes a replica, or loses a master            neither
//	one server under two names, a replica, a policy that evicts or   refused
//	that a server does not tell
//	a running node becomes a replica, or is given a policy that      told with the first vote that is a second or more
//	evicts                                                           after the last look, and refused from then on
//	three nodes or more: it has evicted keys, perhaps with a policy  told likewise, also if the policy was mended since;
//	that was mended since                                            from then on covered, as a restart is. Votes of the
//	                                                                 second before the look may count: neither for these
//	one or two nodes, a Redis Cluster: it has evicted keys           told (not by a Redis Cluster); covered with
//	                                                                 WithRestartQuarantine
//	a proxy that answers for servers                                 refused where its INFO has no run_id or role,
//	                                                                 else neither
//	a node loses its fence counters                                  tokens go on from the clock, which is kept
//	                                                                 within 10 s of the node's; told as a restart
//	a fence counter is no number, or at 2^53                         refused
//	an operator vouches for nodes that may have forgotten locks      neither: see [Vouch], [VouchRestarted]
//
// [WithoutGuard] turns what is covered or told by looking at nodes into neither.
//
// # What lies in Redis
//
// The lock is a string at "lock:" + resource. All else is outside that prefix and
// in the lock key's hash slot: fence counters at lockscope:fence:{n}, which never
// expire and are at most 16384 to a node; queues at lockscope:queue:{key}, the
// waiter a lock is kept for at lockscope:next:{key}, and tombstones at
// lockscope:tomb:{key}:token, which all expire. lockscope:life is the server's proof that
// it remembers, and for which nodes and MaxTTL it votes, and does not.
package redlock
