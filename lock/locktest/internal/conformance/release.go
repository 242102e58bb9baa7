package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testLoss(t *testing.T) {
	s.run(t, "is signalled in time", (*subtest).lossSignalled)
	s.run(t, "makes Extend fail", (*subtest).lossEndsExtend)
	s.run(t, "makes Release say so", (*subtest).releaseAfterLoss)
	s.run(t, "to another holder makes Release say so", (*subtest).releaseAfterTakeover)
	s.run(t, "at MaxHold", (*subtest).maxHold)
}

func (s Suite) testRelease(t *testing.T) {
	s.run(t, "ends the lease's context", (*subtest).releaseEndsContext)
	s.run(t, "twice does nothing more", (*subtest).releaseTwice)
	s.run(t, "works with a cancelled context", (*subtest).releaseCancelled)
	s.run(t, "frees the resource at once", (*subtest).releaseFrees)
}

func (c *subtest) lossSignalled() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	c.within(c.TTL+c.soon(), "the loss of a lease that is not renewed", func() { c.wantEnd(lease, lock.ErrLost) })
	if left := lease.Remaining(); left > 0 {
		c.Errorf("lost with %v remaining", left)
	}
	c.release(c.acquire(c.locker()))
	_ = lease.Release(c.context())
}

func (c *subtest) lossEndsExtend() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	c.wantEnd(lease, lock.ErrLost)
	c.wantErr("Extend after loss", lease.Extend(c.context()), lock.ErrLost)
	_ = lease.Release(c.context())
}

func (c *subtest) releaseAfterLoss() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	c.wantEnd(lease, lock.ErrLost)
	time.Sleep(c.TTL / 4) // validity ends a little before the keys do
	err := lease.Release(c.context())
	c.wantErr("Release after loss", err, lock.ErrNotHeld)
	var release *lock.ReleaseError
	if !errors.As(err, &release) || release.Outcome != lock.OutcomeExpired {
		c.Errorf("Release after loss: %v; a *ReleaseError with outcome %q expected", err, lock.OutcomeExpired)
	}
	if again := lease.Release(c.context()); again != err {
		c.Errorf("a second Release returned %v, the first %v", again, err)
	}
}

func (c *subtest) releaseAfterTakeover() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	next := c.acquire(c.locker())
	// By the clock: a timer may be seen late on a busy machine.
	if left := lease.Remaining(); left > 0 {
		c.Errorf("the resource was given away while the lease was valid for %v", left)
	}
	c.wantErr("Release after a takeover", lease.Release(c.context()), lock.ErrNotHeld)
	if err := next.Context().Err(); err != nil {
		c.Errorf("the release of the lost lease ended the next: %v", context.Cause(next.Context()))
	}
	_, err := c.asked(c.locker())
	c.wantErr("Acquire beside the new holder", err, lock.ErrHeld)
	c.release(next)
}

func (c *subtest) maxHold() {
	l := c.locker()
	lease := c.acquire(l, lock.MaxHold(c.TTL/2))
	c.wantEnd(lease, lock.ErrMaxHold)
	_ = lease.Release(c.context())
	c.wantFree(l)
}

func (c *subtest) releaseEndsContext() {
	lease := c.acquire(c.locker())
	c.release(lease)
	c.wantEnd(lease, lock.ErrReleased)
}

func (c *subtest) releaseTwice() {
	l := c.locker()
	lease := c.acquire(l)
	c.release(lease)
	next := c.acquire(l)
	c.release(lease)
	if err := next.Context().Err(); err != nil {
		c.Errorf("a second Release ended the next lease: %v", context.Cause(next.Context()))
	}
	_, err := c.asked(c.locker())
	c.wantErr("Acquire beside the new holder", err, lock.ErrHeld)
	c.release(next)
}

func (c *subtest) releaseCancelled() {
	lease := c.acquire(c.locker(), lock.TTL(10*time.Second))
	ctx, cancel := context.WithCancel(c.context())
	cancel()
	_ = lease.Release(ctx)
	c.wantEnd(lease, lock.ErrReleased)
	c.within(5*time.Second, "a release that nobody waited for", func() { c.wantFree(c.locker()) })
}

func (c *subtest) releaseFrees() {
	a, b := c.locker(), c.locker()
	for range 5 {
		c.release(c.acquire(a, lock.TTL(10*time.Second)))
		c.within(5*time.Second, "Acquire after Release", func() { c.release(c.acquire(b, lock.TTL(10*time.Second))) })
	}
}
