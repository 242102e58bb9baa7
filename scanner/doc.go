// Package scanner finds leaked locks in Redis: keys that a library wrote as a lock and that will not go away soon, or
// ever. It reads locks of any library, in any language.
//
//	s, err := scanner.New(clients)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	r, err := s.Sweep(ctx)
//	for _, f := range r.Findings {
//		fmt.Println(f.Class, f.Node, inspect.KeyText(f.Key), f.Evidence)
//	}
//
// [Scanner.Sweep] reads all nodes once. [Scanner.Start] sweeps in the background, once per interval.
//
// # Findings
//
// There are five classes of findings; see [inspect.Class]. A finding is confirmed when two looks, [WithConfirmAfter]
// apart, see the same value: SETNX followed by EXPIRE is a legal way to lock. Until then it is pending. A confirmed
// finding that is gone or healed is reported as resolved, once.
//
// Helper keys of locks (lockscope:*, redisson_*, syncguard:fence:*) are never findings, whatever the pattern, and no
// repair touches them.
//
// Owner tokens and values never leave the package, neither in findings nor in logs or errors. A finding shows only what
// the value says of its holder apart from the token:
//
//   - lockscope: instance and time, and of several readers those of the oldest;
//   - ShedLock: host and time;
//   - Redisson: thread, re-entries and the first 8 characters of the client id.
//
// The values of redsync, redislock and SETNX scripts are tokens as a whole, so nothing of them is shown.
//
// An [inspect.Orphan] is looked for only where the nodes form one Redlock: the markers by which they vote prove it, or
// [WithOneRedlock] declares it. Elsewhere [report.Report].Skipped names the omission, or Incomplete does if
// [WithChecks] asked for orphans.
//
// The markers speak for lockscope's locks alone. Locks of other libraries may need one node, so they are compared only
// after a declaration: whole values in the forms of redsync, node-redlock, redlock-universal, redlock-rb, aioredlock,
// RedLock.net, redlock4j, DistributedLock.Redis and redlock for Elixir. [report.NodeReport].Uncompared counts the other
// locks, with the reason [inspect.ReasonUncompared].
//
// # Readers
//
// Readers of a read/write lock share a key, a hash. Each field has an expiry of its own, and the key expires with the
// last one. So a process that crashes leaves no reader behind after its TTL, whichever of its scripts was the last. A
// test ends a process after each of them. These leaks remain, and are findings:
//
//   - [inspect.NoTTL]: a person, a copy or a restored snapshot took the TTL from the key. Readers and writers of
//     lockscope pass over readers whose time is over, but a plain lock of that name is refused until the key is gone.
//   - [inspect.LongTTL], [inspect.HeldTooLong]: one reader has a long TTL, or is renewed for ever. The node's clock may
//     have been ahead when it granted.
//   - [inspect.Orphan]: a minority of the nodes has a reader whose time is not over. It may not read, and keeps writers
//     from these nodes. Of several such readers on one key, the finding is about the one that began first.
//
// Readers whose time is over are judged no more, although Redis has their fields until somebody asks for the lock. If
// there are more readers than are read (see Cost), only the TTL of the key is judged, and no repair is possible.
//
// Slots of a semaphore are locks, and are judged as such. Queues, bars of waiting writers and tombstones expire, too. A
// queue or a bar that has lost its TTL holds up nobody: waiters that nobody listens for are passed over, and each bar
// has an expiry of its own. A bar that ends more than a day from now does not count.
//
// # Repair
//
// A repair acts only on a key that still holds the value that was found. It requires three things:
//
//   - The value identifies one owner, as those of lockscope, ShedLock and Redisson do, and so do UUIDs, 32 hexadecimal
//     digits and random text of 16 characters. Constants, host names, values of several keys, values longer than the
//     256 bytes compared and fields that were not read do not: [repair.ErrNotRepairable].
//   - The value was first seen at least ten minutes ago, or as long as [WithRepairMinAge] says: [repair.ErrTooYoung].
//   - The last sweep read all of the node or slot: [repair.ErrIncomplete].
//
// All values but the tokens of lockscope and redsync and the values of ShedLock may be written again by their process,
// for its next lease. Only a plan acts on such a key, if OBJECT IDLETIME proves that nobody has used it since. A lease
// of lockscope that is [inspect.HeldTooLong] is left alone: its holder renews it, and "lockscope revoke" ends it.
//
// Of readers that share a key, a repair ends the time of the one that was found, and leaves the others alone. It leaves
// an orphan alone that was renewed since. A key of readers without a TTL gets the TTL of its last reader, and deleting
// takes out only readers whose time is over.
//
// [Scanner.Repair] acts at once, in a process that has seen the finding for that long. [Scanner.Plan] writes down what
// would be done, for people to read. [Scanner.Begin] carries that plan out later, in another process.
//
// # Coverage
//
// [report.Report.Incomplete] lists what a sweep did not read, each [inspect.Gap] with a [inspect.Reason]. Without gaps,
// the following holds:
//
//   - Each node was a master, and the same process before and after its pages.
//   - A replica that was read had all that its master had when the sweep began.
//   - One node served each slot of a cluster all the time.
//
// Keys of a moving slot are looked up on both sides. The report is incomplete all the same: a key may have moved from a
// node not yet read to one already read. A pattern that matches no key is a gap, too. The limit on findings keeps the
// worst and counts all.
//
// # Policy
//
// [WithTTLLimit] and [WithHoldLimit] set the limits of all locks. The first [report.Policy] whose pattern matches a key
// takes their place, and can name the team that alerts go to. A leader of an election may lead for as long as it wants, unless [WithTermLimit] or the policy
// sets a limit. An [report.Exclusion] keeps findings out of reports until its end; [report.Report].Excluded counts
// them.
//
// Use one Scanner for each group of servers that share locks. [WithGroup] names the group, and [report.Merge] combines
// the reports. Package discover detects which libraries keep locks under which patterns.
//
// # Other systems
//
// [NewSystem] makes a Scanner of another system, such as PostgreSQL or etcd, from its [inspect.Inspector]. Memory,
// notifications, documents, exit statuses and metrics are the same. A program with a reader of its own can also make a
// [report.Report] of the same [report.Finding]s and [inspect.Gap]s, and [report.Merge] adds it to the others.
//
// # Holders
//
// [inspect.HeldTooLong] requires that each look saw the same holder. Values differ in what they prove:
//
//   - The token of one lease, seen again, is proof.
//   - A value that names only the client (Redisson, Spring) takes three sweeps. None of them may see the lock free,
//     entered less often than before, or with its TTL raised when nobody would have renewed it. A close look during
//     the confirmation follows. This does not prove one hold: a scheduler may take its lock again and again. The
//     evidence says at how many looks the client had it, and [report.Finding].Inferred is true.
//   - Constants, short texts, values shared by several keys, values longer than are read, and hashes whose size is
//     unknown identify nobody. They count while their expiry does not move, and are Inferred, too.
//     [report.NodeReport].Indistinct counts them.
//
// [report.NodeReport].Undated counts the locks that may be held for longer than the limit, because nothing shows since
// when. [report.Report].Skipped names them, or Incomplete does at the first look if [WithChecks] asked for HeldTooLong.
// Later sweeps of the Scanner judge them in time, and so do other processes that share [WithMemory].
//
// The time in a value counts if it agrees with what was seen. A time in the future, or before a sweep that did not find
// the holder, does not: the hold then counts from when the scanner first saw it, and the evidence says so.
//
// # Memory
//
// [WithMemory] passes on what one process knows to the next: since when holders have been seen, and which findings were
// confirmed, so that those healed in between are resolved. Processes that elect a leader share it in Redis. A finding
// in a cluster stays the same when its key moves to another node.
//
// # Silence
//
// A Scanner that sweeps again and again also notices work that stopped. It remembers up to 10,000 locks, without their
// values: first and last look, longest pause, and the hours of the week in which it saw each. A lock is silent if
// sweeps saw it in each hour for a day, and then not for three of its longest pauses, and ten minutes. A lock that was
// not seen in the same hours of the week before, two more or less, is quiet by habit and not silent. When its memory
// fills up, it forgets names first that were there for the shortest time.
// A report counts silent locks and lists the latest of them, and the logger names each. After three days a silent lock
// is forgotten.
//
// Sweeps are samples: they miss short leases. A lock that they see less often than once an hour is not judged, and the
// chance gaps of others count as their pauses. Time counts only between sweeps that read every lock, and are at most
// five minutes apart. So [WithInterval] must stay below that, and Redis nodes must have fewer locks than
// [WithMaxValues]. Of other systems, sweeps see the locks that [Scanner.List] lists. A restart begins anew: [WithMemory]
// does not keep this.
//
// # Cost
//
// A page of keys is one command: a script that returns only what needs a closer look. Where the server runs no scripts,
// a page is SCAN and one pipeline. At most 256 bytes of a value are read (2048 of lockscope's own), or 16 small fields
// of a hash. Memory does not grow with the number of keys: pages are dropped once processed, [WithMaxFindings] bounds
// findings, and [WithMaxWatched] bounds watched locks.
//
// A sweep adapts to each node, unless [WithPause] sets a flat pause. It measures small commands beside its pages and
// while it rests, and compares the two. Smaller pages come first, then pauses of up to [DefaultPause] for a page of
// full size.
//
// # What SCAN promises
//
// A sweep looks at every key that exists during the whole pass, and may look at keys that come or go meanwhile. A key
// that SCAN returns twice is one finding. [report.NodeReport].Locks may count such keys twice: that happens only if the
// server's table shrinks during the pass, and then for the keys of one bucket of the new table, usually a few.
//
// # Rights
//
// A user needs these rights on the keys' patterns, and %R~lockscope:life if there are several nodes:
//
//	+scan +pttl +getrange +strlen +exists +type +hlen +hgetall +hrandfield +memory|usage
//	+info +eval_ro +evalsha_ro +client|setname
//
// Three additions depend on the server:
//
//   - on a cluster, +cluster|slots and +cluster|nodes;
//   - before Redis 7, +eval and +evalsha instead of those with _ro;
//   - for a database other than 0, +select.
//
// Without the rights to run scripts, pages are read by plain commands.
//
// # Layout
//
// This package is the API. Packages report (findings, gaps, policies, the JSON form), listing (locks and their waiters)
// and repair (actions, results and plans) hold its vocabulary. A program can use them alone.
//
//	Scanner, Sweep, Start         scanner.go, loop.go
//	options                       options.go, config.go
//	memory between sweeps         memory.go
//	other systems                 system.go
//	totals of sweeps              snapshot.go
//	notifications                 notify.go, package notify
//	List, Waits, Watch, ListACL   list.go
//	Repair, RepairACL             repairs.go
//	Plan, Begin                   plan.go
//
// The packages below internal do the work. Each calls only those below it in this list:
//
//	sweep      reads all nodes, and looks again at what is wrong
//	list       reads who holds which lock, and who waits
//	apply      expires or deletes a key that has not changed since it was found
//	orphan     finds locks that only a minority of a Redlock's nodes has
//	coverage   records what a sweep is proved to have read
//	judge      decides what is wrong with one lock on one node
//	silence    remembers when locks were seen, and notices those that are not seen any more
//	registry   keeps the findings from sweep to sweep, and from process to process
//	holders    reads who has a lock, and tracks since when
//	keyreader  reads keys of one server
//	node       finds the servers and their masters, and asks them for INFO and slots
//	clock      waits, and decides how fast the pages of one server are read
//
// A sweep, a listing and a repair read keys through a keyreader.Reader, and never through each other.
package scanner
