// Package scanner finds leaked locks: keys that some library, in some language,
// wrote as a lock and that nothing will remove, or not soon.
//
//	s, err := scanner.New(clients)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	report, err := s.Sweep(ctx)
//	for _, f := range report.Findings {
//		fmt.Println(f.Class, f.Node, scanner.KeyText(f.Key), f.Evidence)
//	}
//
// Sweep does all the work, once; [Scanner.Start] does it again and again.
//
// # Findings
//
// There are five [Class]es. Each finding is seen twice, with the same value, a grace
// apart, before it is one: SETNX and then EXPIRE is a legal way to lock. Until then
// it is pending. When it is no more what it was, it is reported as resolved, once.
//
// Helper keys of locks (lockscope:*, redisson_*) are never findings, whatever the
// pattern.
//
// An owner token or a value never leaves the package, neither in findings nor in
// logs or errors. Of a holder that is shown which its value says apart from its
// token: instance and time of a lockscope lock, host and time of ShedLock's,
// thread, re-entries and the first 8 characters of the client id of Redisson's. The
// values of redsync, redislock and SETNX scripts are tokens as a whole.
//
// An [Orphan] is only looked for where the nodes are all those of one Redlock: they say so
// by the markers with which they vote, or [WithOneRedlock] does. Where nobody looked,
// [Report.Skipped] says it, and Incomplete if orphans were asked for by [WithChecks].
//
// # Repair
//
// A repair acts on a key that still holds the very value that was found, and on nothing
// else. So it wants a value that one owner alone can have: lockscope's, ShedLock's and
// Redisson's do, and so do UUIDs, 32 hexadecimal digits and random text of 16 characters.
// A constant, the name of a host, a value of several keys, one that is longer than the 256
// bytes compared, or fields that were not read, do not: [ErrNotRepairable]. And it wants the
// value to have been seen for ten minutes ([WithRepairMinAge], else [ErrTooYoung]), by a
// sweep that read all of the node or slot (else [ErrIncomplete]).
//
// [Scanner.Repair] does it at once, for a process that has seen the finding for that long.
// [Scanner.Plan] writes down what would be done, for people to read; [Scanner.Begin] carries
// that out when it is old enough, in another process.
//
// # Coverage
//
// Nothing is said of what was not read: [Report.Incomplete] lists it, a [Gap] with a
// [Reason] each. Without one, each node was a master, the same process before and after
// its pages; a replica that was read had all that its master had when the sweep began;
// and every slot of a cluster had one node that served it all the time. Keys of a slot on
// the move are asked for on both sides, and make the report incomplete all the same: one
// may have moved from a node not yet read to one that was. A pattern without a single key
// is a gap, too. The bound on findings keeps the worst and counts all.
//
// # Policy
//
// What is right for a lock is said by [WithTTLLimit] and [WithHoldLimit], and for those
// below a pattern by the first [Policy] that matches. An [Exclusion] keeps findings out of
// reports until its end; they are counted in [Report].Excluded, never hidden. Servers that
// have nothing to do with each other want a Scanner each: [WithGroup] names them, and
// [MergeReports] makes one report. Package discover finds out which libraries keep locks
// below which patterns.
//
// # Other systems
//
// A Scanner reads Redis. What looks at rows of PostgreSQL or keys of etcd makes a [Report] of
// its own, of the same [Finding]s and [Gap]s, and [MergeReports] puts it beside the others:
// notifications, documents, exit statuses and metrics take what is merged. [MergeListings]
// does so for what is held.
//
// # Holders
//
// [HeldTooLong] is said of a holder that is proved to be one. A random token proves it,
// seen again; so does an expiry that nobody has moved. A value that says no more than which
// client has the lock (Redisson, Spring), is not proof enough: it takes three sweeps, none
// of which sees the lock free, entered less often than before or with its TTL raised when
// nobody would have renewed it, and a close look during the grace. Constants, short texts,
// values under several keys at a time, values longer than are read and hashes that may not
// be measured prove nothing, whatever is in them; [NodeReport].Indistinct counts those.
//
// What a value says of its holder's clock counts if it agrees with what was seen: a holder
// from the future, or from before a sweep that did not find it, is one since it was first
// seen, and the evidence says so.
//
// # Memory
//
// With [WithMemory] a process begins with what the one before it knew: since when holders
// have been seen, and which findings were confirmed, so that those mended meanwhile are
// resolved. Processes that elect a leader share it in Redis. A finding of a cluster stays
// the same one when its key moves to another node.
//
// # Cost
//
// A page of keys is one command, a script that returns only what deserves a closer
// look, or, where the server does not let scripts run, SCAN and a pipeline. At most
// 256 bytes of a value are read, or 16 small fields of a hash. Memory does not grow
// with the number of keys: pages are dropped as they are done with, findings are
// bounded by [WithMaxFindings], watched locks by [WithMaxWatched].
//
// # What SCAN promises
//
// A key that is there during a whole pass is looked at; one that comes or goes
// meanwhile may be. A key that SCAN returns twice is a finding once. It does so only
// if the server's table shrinks during the pass, and only for the keys of one bucket
// of the new table, a few as a rule: by so many [NodeReport].Locks may be too high.
//
// # Rights
//
// A user with these rights, the keys' patterns, and %R~lockscope:life if there are several
// nodes, is enough:
//
//	+scan +pttl +getrange +strlen +exists +type +hlen +hgetall +memory|usage
//	+info +eval_ro +evalsha_ro +client|setname
//
// On a cluster also +cluster|slots and +cluster|nodes; before Redis 7 +eval and +evalsha instead of those
// with _ro; for a database other than 0 also +select. Without the rights to
// run scripts, pages are read by plain commands.
//
// # Where what is
//
// This package is the API. Its vocabulary is in rooms of their own, which a program can use
// alone: package report (findings, gaps, policies, the JSON form), listing (locks and who
// waits for them) and repair (actions, results and plans). Here are the same names.
//
//	Scanner, Sweep, Start         scanner.go, loop.go, leader.go
//	options                       options.go, policy.go, config.go, open.go
//	what sweeps leave behind      memory.go, store.go
//	results                       report.go, document.go, snapshot.go, of several Scanners group.go
//	who is told                   announce.go, notifier.go, package notify
//	List, Waits                   list.go
//	Repair, Plan, Begin           repair.go, plan.go
//	rights of a user, errors      acl.go, errors.go
//
// What it does is done by rooms below internal, each of which calls only those below it:
//
//	sweep      looks at all nodes, and again at what is wrong
//	list       reads who holds which lock, and who waits
//	apply      expires or deletes a key that still is as it was seen
//	recall     what one process leaves to the next, and where it is kept
//	proof      what a sweep proved, as far as repairs need it
//	orphan     which locks a minority of a Redlock's nodes has
//	coverage   what a sweep is proved to have read
//	judge      what is wrong with one lock on one node
//	holders    since when locks have had one holder
//	ledger     the findings, from sweep to sweep
//	value      what the value of a lock tells
//	node       the servers, and the ways to their masters
//	sight      what the scanner knows of a finding besides what it shows
//	digest     what stands for keys and values in what is remembered
//	keyreader  reads keys of one server
//	server     what any server is asked: connections, INFO, slots, scripts
//	clock      waits, deadlines, durations as people read them
//
// A sweep, a listing and a repair read keys through a keyreader.Reader, and none of them
// through another.
package scanner
