package locktest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
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

	// Capabilities are what the Lockers must be able to do, through their methods Peek, Revoke, RevokeReaders and
	// ResizeSemaphore, and through packages rwlock and semaphore. Everything else must fail with
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
// Subtests run in parallel, as far as -parallel lets them. The suite takes about thirty times its TTL.
//
//	locktest.Run(t, locktest.Driver{Start: func(t testing.TB) locktest.Maker { return locktest.NewFakes(t, 3) }})
func Run(t *testing.T, d Driver) {
	if d.TTL == 0 {
		d.TTL = 500 * time.Millisecond
	}
	s := &suite{d}
	t.Run("Acquire", s.testAcquire)
	t.Run("Wait", s.testWait)
	t.Run("Lease", s.testLease)
	t.Run("Loss", s.testLoss)
	t.Run("Release", s.testRelease)
	t.Run("Do", s.testDo)
	t.Run("Peek", s.testPeek)
	t.Run("Revoke", s.testRevoke)
	t.Run("Readers", s.testReaders)
	t.Run("Semaphore", s.testSemaphore)
	if d.Fault != nil {
		t.Run("Fault", s.testFault)
	}
}

type suite struct{ Driver }

// conformance is one subtest.
type conformance struct {
	*testing.T
	Driver
	resource string
}

// patience bounds every wait of a subtest; a correct Locker never needs it.
const patience = 30 * time.Second

// run starts a subtest with a resource of its own.
func (s *suite) run(t *testing.T, name string, test func(c *conformance)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		resource := strings.Map(func(r rune) rune {
			if r == '{' || r == '}' || r < ' ' {
				return '_'
			}
			return r
		}, t.Name())
		c := &conformance{T: t, Driver: s.Driver, resource: resource}
		if s.Start == nil {
			test(c)
			return
		}
		synctest.Test(t, func(t *testing.T) {
			c.T, c.New = t, s.Start(t)
			test(c)
		})
	})
}

// locker makes another Locker that contends with those before.
func (c *conformance) locker(opts ...lock.Option) lock.Locker { return c.New(c, opts...) }

// context ends with the subtest or when patience has run out.
func (c *conformance) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	c.Cleanup(cancel)
	return ctx
}

// acquire acquires the subtest's resource, or ends the subtest.
func (c *conformance) acquire(l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	return c.acquireIn(c.context(), l, opts...)
}

func (c *conformance) acquireIn(ctx context.Context, l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	lease, err := l.Acquire(ctx, c.resource, append([]lock.AcquireOption{lock.TTL(c.TTL)}, opts...)...)
	if err != nil {
		c.Fatalf("Acquire(%q): %v", c.resource, err)
	}
	return lease
}

// wantNewer checks that a lease's fence is above the one before, where there are fences.
func (c *conformance) wantNewer(fence, last uint64) {
	c.Helper()
	switch {
	case !c.NoFences && fence <= last:
		c.Errorf("fence %d after %d", fence, last)
	case c.NoFences && fence != 0:
		c.Errorf("fence %d of a system without", fence)
	}
}

func (c *conformance) release(lease lock.Lease) {
	c.Helper()
	if err := lease.Release(c.context()); err != nil {
		c.Fatalf("Release of %q: %v", lease.Resource(), err)
	}
}

// wantErr ends the subtest unless err matches every target.
func (c *conformance) wantErr(what string, err error, targets ...error) {
	c.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			c.Fatalf("%s: error %v; one matching %q expected", what, err, target)
		}
	}
}

// wantEnd waits for the lease's context to end, and checks why it did.
func (c *conformance) wantEnd(lease lock.Lease, cause error) {
	c.Helper()
	select {
	case <-lease.Context().Done():
	case <-c.context().Done():
		c.Fatalf("the context of the lease of %q does not end", lease.Resource())
	}
	if got := context.Cause(lease.Context()); !errors.Is(got, cause) {
		c.Fatalf("cause of the lease's context: %v; %v expected", got, cause)
	}
}

// wantFree checks that the resource can be acquired without waiting for a TTL.
func (c *conformance) wantFree(l lock.Locker) {
	c.Helper()
	c.release(c.acquire(l, lock.TTL(c.TTL), lock.MaxWait(patience/2)))
}

// soon bounds a step that does not wait.
func (c *conformance) soon() time.Duration { return max(c.TTL, time.Second) }

// within checks that do takes less than d.
func (c *conformance) within(d time.Duration, what string, do func()) {
	c.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > d {
		c.Errorf("%s took %v; less than %v expected", what, took, d)
	}
}
