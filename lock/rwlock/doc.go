// Package rwlock provides read/write locks between processes: any number of readers, or one writer.
//
//	prices, err := rwlock.New(locker, "prices:eu")
//	...
//	err = prices.Read(ctx, func(ctx context.Context, lease lock.Lease) error {
//		return export(ctx) // takes seconds; other exports run beside it
//	})
//	err = prices.Write(ctx, func(ctx context.Context, lease lock.Lease) error {
//		return replaceAll(ctx, lease.Fence())
//	})
//
// # When to use it
//
// A reader costs as much as a lock: each acquires and releases on every node. So a read/write lock gains only if
// readers would otherwise wait for each other for long. Use it if read sections take seconds and writers are rare.
//
// If reads are short, keep a version beside the data instead. A reader reads the version, the data and the version
// again, and repeats if it changed. Writers take turns with a lock. Readers then write nothing, and no reader holds up
// a writer. If readers only need a consistent copy, a transaction or a snapshot of the database is better than any
// lock.
//
// # What it promises
//
// While a writer's lease is valid, no other lease of the lock is, under the assumptions of package lock. Each reader
// has an expiry of its own, which no other reader changes.
//
// Fences order writers and readers:
//   - A writer's fence is larger than the fences of all writers and readers before it.
//   - A reader's fence is at least as large as those of all writers before it. It is not unique.
//
// So a storage that keeps the highest writer's fence it has seen refuses a reader with a lower one: that reader may
// have lost its lease to a writer.
//
// # Waiting
//
// A writer that waits keeps out the readers that come after it, so readers cannot starve it. It waits for the readers
// that came before. [lock.MaxHold] bounds how long each of them keeps its lease, by default to an hour. Set a shorter
// one for readers, since those that renew for longer hold up the writer and everybody behind it.
//
// When a writer releases the lock, all readers at the head of the queue go on together. If a writer crashes while it
// waits, readers go on after one TTL, or four poll intervals if that is longer ([lock.TTL], [lock.WithPollInterval]).
// A writer that does not wait ([RWLock.TryLock]) keeps nobody out.
//
// A writer that waits asks every node about twice a second, so that it keeps its place there. A release that names it
// ends the wait at once.
//
// Calls of one process take turns to ask the nodes, in the order in which they came. A reader passes its turn on as
// soon as it has its lease.
//
// A caller that reads cannot become the writer: [ErrUpgrade]. Release the read lock first. A caller that reads should
// not read again: if a writer waits in between, both wait until the read lease ends. [lock.Reentrant] makes reading
// again harmless: it hands out the lease that the caller has.
//
// # Revoke
//
// An operator can end the writer's lease with engine.Engine.Revoke, or those of readers: each reader learns
// who and why. All drivers with read/write locks can do both.
//
// # Drivers
//
//	           read/write lock  a reader's fence          what bars later readers
//	redlock    yes              at least the writers'     a bar on each node, for a TTL or four polls
//	memlock    yes              at least the writers'     the same
//	pglock     yes              unique, above all before  a row, for a TTL or four polls
//	etcdlock   yes              unique, above all before  the writer's key in the queue, until its lease ends
//	zklock     yes              unique, above all before  the writer's place in the queue, until its session ends
//	redsynclock  no
//
// Without read/write locks each call fails with an error that matches errors.ErrUnsupported, and nothing is sent.
//
// The BENCHMARKS.md of each driver has what a reader costs beside a lock: as much on etcd and ZooKeeper, and 1.1 to 1.3
// times as much on PostgreSQL.
//
// With etcdlock and zklock a writer keeps its place in one queue, so it need not ask again to keep it. In zklock a
// [RWLock.TryLock] that is refused keeps readers out for the moment of its call.
//
// A read/write lock and a lock of the same name exclude each other. But a release by one names no waiter of the other,
// which then finds out after a poll interval. Use different names.
package rwlock
