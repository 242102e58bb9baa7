// Package lockset holds several locks at once, on any [lock.Locker].
//
//	err := lockset.Do(ctx, locker, []string{"account:17", "account:42"},
//		func(ctx context.Context, set *lockset.Set) error {
//			return transfer(ctx, 17, 42, set.Fences())
//		})
//
// # What it promises
//
// A set is held while all of its leases are valid. Its context ends when the first of them ends. Each lease has a
// fencing token of its own: a storage that checks tokens checks those of the resource that it writes.
//
// Two sets never deadlock: each acquires its locks in the same order, sorted by name. A caller that already holds a
// lock while it acquires a set can still close a cycle; see [lock.FailOnDeadlock].
//
// # Cost
//
// The locks are acquired one after the other. A set of m locks costs m times a lock, and those acquired first are held,
// and renewed, while the call waits for the others.
package lockset
