// Package election elects one leader among processes, over any [lock.Locker].
//
//	err := election.Run(ctx, locker, "billing", func(ctx context.Context, term election.Term) error {
//		return bill(ctx, term.Number()) // until ctx ends
//	})
//
// # What it promises
//
// At most one term of a name is valid at any time, and later terms have higher numbers, under the assumptions under
// which at most one lease of a lock is valid: an election is a lock that is held for as long as the leader lives. The
// context of a term ends before its validity does, by the local clock, even if the nodes hang.
//
// A leader may not notice in time that its term has ended: its process may be paused between a check and a write. A
// write is safe only if it carries the number of its term, and the storage refuses numbers below the highest it has
// seen.
//
// # Standby
//
// Candidates queue. [Standby] tells the first in line, so that it can load what a leader needs. That is a hint: it may
// never lead, and it must not write. If the leader stops in an orderly way, the nodes name the first in line. After a crash
// they name nobody: the next leader is the candidate that asks first once the lease has run out. Of 120 leaders that
// stopped renewing, on one Redis node and on three, with three candidates each, the first in line followed 118. After kill
// -9 it followed 6 of 9. So every candidate has to be able to lead without Standby.
//
// # Observers
//
// [Observe] says who leads, for processes that do not campaign. It reads the nodes and changes nothing on them. What it
// yields is a hint with the time at which it was seen and the time after which it is void. A follower may believe one
// thing: the term that it saw is a lower bound of the newest term.
//
// A vacancy means that no leader has a quorum of the nodes. If the nodes that answer do not decide that, the observer
// gets an error instead. Page somebody after a vacancy that lasts longer than the TTL. A node that may have forgotten
// leases does not count until a campaign, or another acquire, has ended its quarantine: an observer never does.
//
// # Crashes
//
// If a leader crashes, the next term begins at most one TTL later ([TTL], 10 seconds by default). If it stops in an
// orderly way, the next term begins at once.
package election
