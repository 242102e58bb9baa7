package locktest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestLocker checks that a [lock.Locker] keeps its contract: mutual exclusion, waiting, fencing tokens,
// the life of a lease, and typed errors. It uses only the interface, so it can test decorators and other
// implementations.
//
// newLocker makes a Locker and closes it with t.Cleanup. TestLocker calls it for every subtest, several
// times in some. The lockers must contend with each other like processes that use the same servers.
// Resources are named after the subtest, so all subtests may share the servers.
//
// Subtests run in parallel, as far as -parallel lets them. The suite takes about twenty times its TTL.
func TestLocker(t *testing.T, newLocker func(t testing.TB) lock.Locker, opts ...ConformanceOption) {
	newSuite(newLocker, opts).test(t)
}

// TestLockerInFakeTime is like [TestLocker], for lockers that use only Go's clock. Each subtest runs in a bubble of
// [testing/synctest], so it waits for no TTL and does not depend on a fast machine. A bubble cannot use servers from
// outside: start makes the servers of one subtest, and returns its newLocker.
//
//	locktest.TestLockerInFakeTime(t, func(t testing.TB) func(testing.TB) lock.Locker {
//		return locktest.NewFakes(t, 3)
//	})
func TestLockerInFakeTime(t *testing.T, start func(t testing.TB) func(testing.TB) lock.Locker,
	opts ...ConformanceOption) {
	s := newSuite(nil, opts)
	s.start = start
	s.test(t)
}

// ConformanceOption configures TestLocker.
type ConformanceOption func(*suite)

// WithTTL sets the TTL of the suite's locks, instead of 500 ms. Some subtests wait until it has passed.
// They fail if the machine stalls for a third of it.
func WithTTL(d time.Duration) ConformanceOption { return func(s *suite) { s.ttl = d } }

// WithoutFences is for systems without counters: every lease must have fence 0.
func WithoutFences() ConformanceOption { return func(s *suite) { s.fences = false } }

// WithoutHolders is for systems whose [lock.HeldError] does not name the holder or the remaining time.
func WithoutHolders() ConformanceOption { return func(s *suite) { s.holders = false } }

type suite struct {
	newLocker func(testing.TB) lock.Locker
	start     func(testing.TB) func(testing.TB) lock.Locker // in fake time, instead of newLocker
	ttl       time.Duration
	fences    bool
	holders   bool
	peek      bool
	slots     bool
	slotQueue bool
	readers   bool // have fences of their own
}

func newSuite(newLocker func(testing.TB) lock.Locker, opts []ConformanceOption) *suite {
	s := &suite{newLocker: newLocker, ttl: 500 * time.Millisecond, fences: true, holders: true}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

func (s *suite) test(t *testing.T) {
	t.Run("Acquire", s.testAcquire)
	t.Run("Wait", s.testWait)
	t.Run("Lease", s.testLease)
	t.Run("Loss", s.testLoss)
	t.Run("Release", s.testRelease)
	t.Run("Do", s.testDo)
	t.Run("Peek", s.testPeek)
}

// conformance is one subtest.
type conformance struct {
	*testing.T
	suite     *suite
	newLocker func(testing.TB) lock.Locker
	resource  string
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
		if s.start == nil {
			test(&conformance{T: t, suite: s, newLocker: s.newLocker, resource: resource})
			return
		}
		synctest.Test(t, func(t *testing.T) {
			test(&conformance{T: t, suite: s, newLocker: s.start(t), resource: resource})
		})
	})
}

// locker makes another Locker that contends with those before.
func (c *conformance) locker() lock.Locker { return c.newLocker(c) }

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
	lease, err := l.Acquire(ctx, c.resource, append([]lock.AcquireOption{lock.TTL(c.suite.ttl)}, opts...)...)
	if err != nil {
		c.Fatalf("Acquire(%q): %v", c.resource, err)
	}
	return lease
}

// wantNewer checks that a lease's fence is above the one before, where there are fences.
func (c *conformance) wantNewer(fence, last uint64) {
	c.Helper()
	switch {
	case c.suite.fences && fence <= last:
		c.Errorf("fence %d after %d", fence, last)
	case !c.suite.fences && fence != 0:
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
	c.release(c.acquire(l, lock.TTL(c.suite.ttl), lock.MaxWait(patience/2)))
}

// soon bounds a step that does not wait.
func (c *conformance) soon() time.Duration { return max(c.suite.ttl, time.Second) }

// within checks that do takes less than d.
func (c *conformance) within(d time.Duration, what string, do func()) {
	c.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > d {
		c.Errorf("%s took %v; less than %v expected", what, took, d)
	}
}
