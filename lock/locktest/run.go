package locktest

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/internal/conformance"
)

// Maker makes a Locker with these options, and closes it with t.Cleanup.
type Maker func(t testing.TB, opts ...lock.Option) lock.Locker

// Driver is what [Run] tests: a driver, or anything else that makes Lockers.
type Driver struct {
	// New is called for every subtest, several times in some. The Lockers must contend with each other like processes
	// that use the same servers. Resources are named after the subtest, so all subtests may share the servers.
	New Maker
	// Start is for Lockers that use only Go's clock, instead of New. Each subtest runs in a bubble of testing/synctest,
	// so it waits for no TTL and does not depend on a fast machine. A bubble cannot use servers from outside: Start
	// makes the servers of one subtest.
	Start func(t testing.TB) Maker

	// Capabilities are what the Lockers must report, if they are engines, and must be able to do, through their methods
	// Peek, Revoke and Resize, and through packages rwlock and semaphore. Everything else must fail with
	// errors.ErrUnsupported, or have no method.
	Capabilities driver.Capabilities
	NoFences     bool // the system has no counters: every lease must have fence 0
	NoHolders    bool // a lock.HeldError does not name the holder or the remaining time
	NoSemaphores bool // permits are refused, too
	// ReaderFences: each reader must have a fence of its own, above those of all readers before it. One server that
	// decides alone can do that; a quorum cannot.
	ReaderFences bool

	// TTL is that of the suite's locks; 500 ms if it is 0. Some subtests wait until it has passed. They fail if the
	// machine stalls for a third of it. The Lockers must grant TTLs of ten seconds, and of four times this.
	TTL time.Duration
	// Fault breaks servers and mends what the Lockers need, while their callers lock, read, write and take permits. It
	// runs last. It is for New only, and may be nil.
	Fault func(t testing.TB)
}

// Run checks that Lockers keep their contract: mutual exclusion, waiting, fencing tokens, the life of a lease, typed
// errors, semaphores, and whatever their Capabilities promise. It uses only the interface, so it can test decorators and
// other implementations.
//
// The subtests run in parallel, at most -parallel at once. The suite takes about thirty times its TTL.
//
//	locktest.Run(t, locktest.Driver{Start: func(t testing.TB) locktest.Maker { return locktest.NewFakes(t, 3) }})
func Run(t *testing.T, d Driver) {
	s := conformance.Suite{
		New: conformance.Maker(d.New), Capabilities: d.Capabilities, NoFences: d.NoFences, NoHolders: d.NoHolders,
		NoSemaphores: d.NoSemaphores, ReaderFences: d.ReaderFences, TTL: d.TTL, Fault: d.Fault,
	}
	if d.Start != nil {
		s.Start = func(t testing.TB) conformance.Maker { return conformance.Maker(d.Start(t)) }
	}
	s.Run(t)
}
