// Package redsynclock is the driver of package lock for services that stay on redsync
// (github.com/go-redsync/redsync): the same keys, pools and options, so that its locks
// and those of plain redsync exclude each other, with the leases, errors, traces,
// metrics and pages of package lock.
//
//	locker, err := redsynclock.New([]redis.Pool{pool1, pool2, pool3}) // what redsync.New was given
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// that has redsync's mutexes everywhere keeps them: see [Over].
//
// # What it promises
//
// While clocks of the client and of a majority of servers run within the drift bound, and
// no server forgets a key that it has acknowledged, at most one lease per resource
// is valid at any time. That is what redsync promises, and no more:
//
//	fencing tokens                none: Fence() is 0, and lock.Fenced refuses to go on without
//	a server restarts, fails over not detected: it votes at once, and may have forgotten locks that are
//	                              valid. Two leases may be. (package redlock's nodes notice)
//	a lease ends early            as in all drivers: its context ends with lock.ErrLost, by a local timer
//	an answer that does not come  the key may appear later. It is deleted if redsync's call ends later
//	                              with success; where the server itself hangs, and takes the command
//	                              up after the release, the key stays until its expiry
//	order of waiters              none between processes: all poll. Within one they are served in order
//	keys of plain redsync         respected, and respect ours. Whose they are is not known, how long
//	                              they live is
//	WithSetNXOnExtend             a server that lost the key votes again when it is put back, by
//	                              redsync's rule. Without it, lost keys are put back and are no vote
//
// # Where what is
//
//	New, Wrap                 redsynclock.go
//	options                   options.go, observe.go
//	a request, a mutex        node.go, value.go
//	answers that come late    late.go
//	why there are none        probe.go
//	what failed               errors.go
//	Over, Mutexes, Mutex      mutex.go
package redsynclock
