// Package synclock is a sync.Locker that excludes other processes as well, for code that takes nothing else.
//
//	m, err := synclock.New(ctx, locker, "report") // ctx ends when the process shuts down
//	...
//	m.Lock()
//	defer m.Unlock()
//	err = report(m.Context()) // until the context ends: the lease is lost then
//
// Use lock.Do where you can: it returns errors, and cancels the work when the lease is lost.
//
// # What Lock and Unlock do on an error
//
// Neither has an error to return, and neither panics. Code after Lock therefore runs only if the lock was granted:
//
//   - Lock tries again until it has the lock: while another process holds it, and while too few nodes answer.
//   - Lock gives up if the context given to [New] has ended, if the Locker is closed, or if it refuses the options. It
//     then ends the calling goroutine as runtime.Goexit does, and as t.FailNow does in a test. Deferred calls run, and
//     nothing else. Afterwards every Lock of this [Mutex] ends its goroutine, and Err returns the reason.
//   - Lock gives up only while no goroutine of this process has the Mutex. A deferred Unlock of the goroutine that ends
//     therefore releases nobody else's lock, as it could where sync.Cond.Wait locks again.
//   - Unlock without the lock does nothing. Err returns the error.
//
// A goroutine that waits for the result of one that Lock has ended must also wait for the context. In the main
// goroutine, Lock ends the program only when all other goroutines have ended. Use [Mutex.Acquire] there.
//
// # What a sync.Locker does not give
//
// A goroutine is not stopped when its lease is lost. [Mutex.Context] ends then, and another process may be granted the
// lock. Other goroutines of this process still wait for Unlock. Code that knows only sync.Locker goes on, and Err
// returns lock.ErrLost after its Unlock. Writes that must not come late carry the fencing token, which lock.HeldLeases
// finds in the context.
package synclock
