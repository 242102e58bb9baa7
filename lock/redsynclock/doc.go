// Package redsynclock is for services that stay on redsync (github.com/go-redsync/redsync). It uses
// the same keys, pools and options, so its locks and those of plain redsync exclude each other. It
// adds the leases, errors, traces, metrics and pages of package lock.
//
//	locker, err := redsynclock.New([]redis.Pool{pool1, pool2, pool3}) // what redsync.New was given
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// Code that uses redsync's mutexes everywhere keeps them: see [Over].
//
// # What it promises
//
// At most one lease per resource is valid at any time while
//   - the clocks of the client and of a majority of servers run within the drift bound; and
//   - no server forgets a key that it has acknowledged.
//
// That is what redsync promises, and no more:
//
//	fencing tokens                none: Fence() is 0, and Acquire with lock.Fenced fails
//	a server restarts, fails      not detected: it votes at once, and may have forgotten valid
//	  over                        locks. Two leases may then be valid. (Package redlock detects
//	                              restarts)
//	a lease ends early            as in all drivers: its context ends with lock.ErrLost, by a
//	                              local timer
//	an answer is lost             the key may appear later. It is deleted if redsync's call
//	                              succeeds late. If the server itself hangs, and runs the
//	                              command after the release, the key stays until it expires
//	order of waiters              none between processes: all poll. Within a process, first come
//	                              first served
//	keys of plain redsync         exclude this package's locks and are excluded by them. Their
//	                              holder is unknown, their remaining time is known
//	WithSetNXOnExtend             by redsync's rule, a server that lost the key votes again when
//	                              the key is restored. Without this option, restored keys do not
//	                              count as votes
//
// This driver has no read/write locks: rwlock.New fails with errors.ErrUnsupported. It does not know how many
// slots a semaphore has: engine.Engine.Resize fails with errors.ErrUnsupported.
//
// # Where to find what
//
//	New, Wrap                 redsynclock.go
//	options                   options.go, observe.go
//	requests, mutexes         node.go, value.go
//	late answers              late.go
//	servers without answer    probe.go
//	classes of errors         errors.go
//	Over, Mutexes, Mutex      mutex.go, taken.go
package redsynclock
