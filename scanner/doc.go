// Package scanner finds leaked locks in Redis: keys that a library wrote as a lock and that will not expire soon, or
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
// There are five classes of findings; see [inspect.Class]. A finding is confirmed when two reads, [WithConfirmAfter]
// apart, see the same value, because SETNX followed by EXPIRE is a legal way to lock. Until then it is pending. When a
// confirmed finding disappears or heals, it is reported as resolved, once.
//
// Helper keys of locks (lockscope:*, redisson_*, syncguard:fence:*) are never findings, whatever the pattern, and no
// repair touches them.
//
// Owner tokens and values never leave the package, neither in findings nor in logs or errors. A finding shows only what
// the value says about its holder apart from the token:
//
//   - lockscope: instance and time; if there are several readers, those of the oldest;
//   - ShedLock: host and time;
//   - Redisson: thread, re-entries and the first 8 characters of the client id.
//
// The values of redsync, redislock and SETNX scripts are nothing but tokens, so they are not shown.
//
// The scanner looks for an [inspect.Orphan] only where the nodes form one Redlock: their markers prove it, or
// [WithOneRedlock] declares it. Elsewhere [report.Report].Skipped names the omission, or Incomplete does if
// [WithChecks] asked for orphans. Only such nodes have a [NodeTotals].Quorum.
//
// The markers prove it for lockscope's locks only. Other libraries may use a single node, so their locks are compared
// only after a declaration: whole values in the forms of redsync, node-redlock, redlock-universal, redlock-rb,
// aioredlock, RedLock.net, redlock4j, DistributedLock.Redis and redlock for Elixir. [report.NodeReport].Uncompared
// counts locks in other forms, with the reason [inspect.ReasonUncompared].
//
// # Readers
//
// Readers of a read/write lock share a key, a hash. Each field has its own expiry, and the key expires with the last
// one. So a crashed process leaves no reader behind after its TTL, whichever script it ran last. These leaks remain
// possible, and are findings:
//
//   - [inspect.NoTTL]: a person, a copy or a restored snapshot removed the key's TTL. Readers and writers of lockscope
//     ignore expired readers, but a plain lock of that name is refused until the key is deleted.
//   - [inspect.LongTTL], [inspect.HeldTooLong]: one reader has a long TTL, perhaps because the node's clock was ahead at
//     the grant, or is renewed forever.
//   - [inspect.Orphan]: only a minority of the nodes has an unexpired reader. It does not have the lock, but blocks
//     writers on these nodes. If one key has several, the finding is about the oldest.
//
// Expired readers are not judged, although Redis keeps their fields until somebody asks for the lock. If there are more
// readers than the scanner reads (see Cost), it judges only the key's TTL, and cannot repair.
//
// Slots of a semaphore are judged like locks. Queues, bars of waiting writers and tombstones also expire. A queue or a
// bar that has lost its TTL blocks nobody: dead waiters are skipped, and each bar has its own expiry. A bar that ends
// more than a day from now does not count.
//
// # Repair
//
// A repair acts only on a key that still holds the value that was found. It requires three things:
//
//   - The value identifies one owner, as those of lockscope, ShedLock and Redisson do, and so do UUIDs, 32 hexadecimal
//     digits and random text of 16 characters. Constants, host names, values shared by several keys, values longer than
//     the 256 bytes compared and fields that were not read do not: [repair.ErrNotRepairable].
//   - The value was first seen at least ten minutes ago, or as long as [WithRepairMinAge] says: [repair.ErrTooYoung].
//   - The last sweep read all of the node or slot: [repair.ErrIncomplete].
//
// A process may write its value again for its next lease, unless it is a token of lockscope or redsync, or a value of
// ShedLock. Only a plan acts on such a key, if OBJECT IDLETIME proves that nobody has used it since. Repairs ignore a
// lease of lockscope that is [inspect.HeldTooLong]: its holder renews it, and "lockscope revoke" ends it.
//
// If readers share a key, a repair expires only the one that was found, unless it is an orphan that was renewed since.
// A key of readers without a TTL gets the TTL of its last reader, and deleting removes only expired readers.
//
// [Scanner.Repair] acts at once, in a process that has seen the value for the minimum age. [Scanner.Plan] lists what
// would be done, for people to read. [Scanner.Begin] prepares to carry out that plan later, in another process.
//
// # Coverage
//
// [report.Report.Incomplete] lists what a sweep did not read, each [inspect.Gap] with a [inspect.Reason]. Without gaps,
// the following holds:
//
//   - Each node was a master, and the same process before and after its pages.
//   - A replica that was read had everything that its master had when the sweep began.
//   - Each slot of a cluster was served by one node throughout.
//
// Keys of a moving slot are looked up on both sides. The report is still incomplete, because a key may have moved from
// a node not yet read to one already read. A pattern that matches no key is also a gap. If there are more findings than
// [WithMaxFindings], the report keeps the worst and counts all.
//
// # Policy
//
// [WithTTLLimit] and [WithHoldLimit] set the limits of all locks. The first [report.Policy] whose pattern matches a key
// replaces them, and can name the team that alerts go to. A leader of an election may lead for any time, unless
// [WithTermLimit] or the policy sets a limit. An [report.Exclusion] keeps findings out of reports until its end;
// [report.Report].Excluded counts them.
//
// Use one Scanner for each group of servers that share locks. [WithGroup] names the group, and [report.Merge] combines
// the reports. Package discover detects which libraries keep locks under which patterns.
//
// # Other systems
//
// [NewSystem] makes a Scanner of another system, such as PostgreSQL or etcd, from its [inspect.Inspector]. Memory,
// notifications, documents, exit statuses and metrics are the same. A program with its own reader can also make a
// [report.Report] of [report.Finding]s and [inspect.Gap]s, and [report.Merge] adds it to the others.
//
// # Holders
//
// [inspect.HeldTooLong] requires that every read saw the same holder. Values differ in what they prove:
//
//   - The token of one lease is proof.
//   - A value that names only the client (Redisson, Spring) needs three sweeps. None of them may see the lock free,
//     entered less often than before, or with its TTL raised when nobody would have renewed it. A close look during the
//     confirmation follows. This does not prove a single hold: a scheduler may take its lock again and again. The
//     evidence says in how many reads the client had it, and [report.Finding].Inferred is true.
//   - Constants, short texts, values shared by several keys, values longer than are read, and hashes whose size is
//     unknown identify nobody. They count as one hold while their expiry does not change, and are also Inferred.
//     [report.NodeReport].Indistinct counts them.
//
// [report.NodeReport].Undated counts the locks whose age is unknown, which may be held for longer than the limit.
// [report.Report].Skipped names them, or Incomplete does in the first sweep if [WithChecks] asked for HeldTooLong.
// Later sweeps of the Scanner judge them in time, and so do other processes that share [WithMemory].
//
// The time in a value counts if it agrees with what the scanner saw. It does not if it is in the future, or before a
// sweep that did not find the holder. The hold then counts from when the scanner first saw it, and the evidence says
// so.
//
// # Memory
//
// [WithMemory] passes what one process knows to the next: when holders were first seen, and which findings were
// confirmed, so that findings that healed in between are reported as resolved. Processes that elect a leader share it
// in Redis. A finding in a cluster stays the same when its key moves to another node.
//
// # Silence
//
// A Scanner that sweeps again and again also detects work that stopped. It remembers up to 10,000 locks, without their
// values: when each was first and last seen, its longest pause, and the hours of the week in which it was seen. A
// lock is silent if sweeps saw it in every hour for a day, and then not for three of its longest pauses, and ten
// minutes. A lock that was not seen in the same hours of the week before, give or take two, is not silent. When its
// memory fills up, it first forgets the names that were seen for the shortest time. A report counts silent locks and
// lists the latest of them, and the logger names each. After three days a silent lock is forgotten.
//
// Sweeps are samples, and miss short leases. A lock that they see less often than once an hour is not judged, and
// missed leases of others count as pauses. Time counts only between sweeps that read every lock and are at most five
// minutes apart. So [WithInterval] must stay below that, and Redis nodes must have fewer locks than [WithMaxValues]. In
// other systems, sweeps see the locks that [Scanner.List] lists. [WithMemory] does not store any of this, so a restart
// begins anew. [WithSilenceOf] hands it to another Scanner of the same process.
//
// # Cost
//
// A page of keys is one command: a script that returns only what needs a closer look. On a server without scripts, a
// page is SCAN and one pipeline. The scanner reads at most 256 bytes of a value (2048 of lockscope's own), or 16 small
// fields of a hash. Memory does not grow with the number of keys: pages are dropped once processed, [WithMaxFindings]
// limits findings, and [WithMaxWatched] limits watched locks.
//
// A sweep adapts to each node, unless [WithPause] sets a fixed pause. It measures small commands next to its pages and
// between them, and compares the two. If they slow down, it first makes pages smaller, then adds pauses of up to
// [DefaultPause] for a full page.
//
// # What SCAN promises
//
// A sweep reads every key that exists during the whole pass, and may read keys that are created or deleted meanwhile. A
// key that SCAN returns twice is one finding. [report.NodeReport].Locks may count such keys twice: only if the server's
// table shrinks during the pass, and then for the keys of one bucket, usually a few.
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
// Without the rights to run scripts, the scanner reads pages by plain commands.
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
//	silence    remembers when locks were seen, and finds those that are no longer seen
//	registry   keeps the findings from sweep to sweep, and from process to process
//	holders    reads who has a lock, and tracks how long
//	keyreader  reads keys of one server
//	node       finds the servers and their masters, and asks them for INFO and slots
//	clock      waits, and decides how fast the pages of one server are read
//
// A sweep, a listing and a repair read keys through a keyreader.Reader, and never through each other.
package scanner
