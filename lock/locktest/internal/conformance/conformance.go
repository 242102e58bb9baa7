// Package conformance is the suite that locktest.Run runs.
package conformance

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

// Maker is locktest.Maker.
type Maker func(t testing.TB, opts ...lock.Option) lock.Locker

// Suite has the fields of locktest.Driver.
type Suite struct {
	New          Maker
	Start        func(t testing.TB) Maker
	Capabilities driver.Capabilities
	NoFences     bool
	NoHolders    bool
	NoSemaphores bool
	ReaderFences bool
	TTL          time.Duration
	Fault        func(t testing.TB)
}

// Run is locktest.Run.
func (s Suite) Run(t *testing.T) {
	if s.TTL == 0 {
		s.TTL = 500 * time.Millisecond
	}
	t.Run("Capabilities", s.testCapabilities)
	t.Run("Acquire", s.testAcquire)
	t.Run("Wait", s.testWait)
	t.Run("Lease", s.testLease)
	t.Run("Loss", s.testLoss)
	t.Run("Release", s.testRelease)
	t.Run("MinHold", s.testMinHold)
	t.Run("Do", s.testDo)
	t.Run("Peek", s.testPeek)
	t.Run("Revoke", s.testRevoke)
	t.Run("Readers", s.testReaders)
	t.Run("Semaphore", s.testSemaphore)
	if s.Fault != nil {
		t.Run("Fault", s.testFault)
	}
}

// subtest is one of the suite.
type subtest struct {
	*testing.T
	Suite
	resource string
}

// patience bounds every wait of a subtest; a correct Locker never needs it.
const patience = 30 * time.Second

// run starts a subtest with a resource of its own.
func (s Suite) run(t *testing.T, name string, test func(c *subtest)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		resource := strings.Map(func(r rune) rune {
			if r == '{' || r == '}' || r < ' ' {
				return '_'
			}
			return r
		}, t.Name())
		c := &subtest{T: t, Suite: s, resource: resource}
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

func (s Suite) testCapabilities(t *testing.T) {
	s.run(t, "are those that an engine reports", (*subtest).capabilities)
}

func (c *subtest) capabilities() {
	e, ok := c.locker().(interface{ Capabilities() driver.Capabilities })
	if ok && e.Capabilities() != c.Capabilities {
		c.Errorf("it reports %+v; %+v expected", e.Capabilities(), c.Capabilities)
	}
}

// locker makes another Locker that contends with those before.
func (c *subtest) locker(opts ...lock.Option) lock.Locker { return c.New(c, opts...) }

// context ends with the subtest or when patience has run out.
func (c *subtest) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	c.Cleanup(cancel)
	return ctx
}

// acquire acquires the subtest's resource, or ends the subtest.
func (c *subtest) acquire(l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	return c.acquireIn(c.context(), l, opts...)
}

func (c *subtest) acquireIn(ctx context.Context, l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	lease, err := l.Acquire(ctx, c.resource, append([]lock.AcquireOption{lock.TTL(c.TTL)}, opts...)...)
	if err != nil {
		c.Fatalf("Acquire(%q): %v", c.resource, err)
	}
	return lease
}

// wantNewer checks that a lease's fence is above the one before, where there are fences.
func (c *subtest) wantNewer(fence, last uint64) {
	c.Helper()
	switch {
	case !c.NoFences && fence <= last:
		c.Errorf("fence %d after %d", fence, last)
	case c.NoFences && fence != 0:
		c.Errorf("fence %d of a system without", fence)
	}
}

func (c *subtest) release(lease lock.Lease) {
	c.Helper()
	if err := lease.Release(c.context()); err != nil {
		c.Fatalf("Release of %q: %v", lease.Resource(), err)
	}
}

// wantErr ends the subtest unless err matches every target.
func (c *subtest) wantErr(what string, err error, targets ...error) {
	c.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			c.Fatalf("%s: error %v; one matching %q expected", what, err, target)
		}
	}
}

// wantEnd waits for the lease's context to end, and checks why it did.
func (c *subtest) wantEnd(lease lock.Lease, cause error) {
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
func (c *subtest) wantFree(l lock.Locker) {
	c.Helper()
	c.release(c.acquire(l, lock.TTL(c.TTL), lock.MaxWait(patience/2)))
}

// soon bounds a step that does not wait.
func (c *subtest) soon() time.Duration { return max(c.TTL, time.Second) }

// within checks that do takes less than d.
func (c *subtest) within(d time.Duration, what string, do func()) {
	c.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > d {
		c.Errorf("%s took %v; less than %v expected", what, took, d)
	}
}
