package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testMinHold(t *testing.T) {
	if !s.Capabilities.Keep {
		s.run(t, "is refused", (*subtest).minHoldRefused)
		return
	}
	s.run(t, "keeps the resource after a release", (*subtest).minHoldKeeps)
	s.run(t, "that has passed keeps nothing", (*subtest).minHoldPassed)
	if s.Capabilities.Readers {
		s.run(t, "of a writer keeps readers out", (*subtest).minHoldOfWriter)
	}
	if !s.NoSemaphores {
		s.run(t, "keeps a permit", (*subtest).minHoldOfPermit)
	}
}

func (c *subtest) minHoldRefused() {
	_, err := c.locker().Acquire(c.context(), c.resource, lock.MinHold(time.Millisecond))
	c.wantErr("Acquire", err, errors.ErrUnsupported)
}

// longTTL is that of leases which would keep their resource for longer than a subtest waits.
const longTTL = 10 * time.Second

func (c *subtest) minHoldKeeps() {
	l, other := c.locker(), c.locker()
	began, d := time.Now(), c.TTL
	lease := c.acquire(l, lock.TTL(longTTL), lock.MinHold(d))
	c.release(lease)
	c.wantEnd(lease, lock.ErrReleased)
	c.wantDone(other, began.Add(d))
	next := c.acquire(l, lock.TTL(longTTL)) // this process waits, too
	took := time.Since(began)
	if took < d {
		c.Errorf("granted after %v of %v", took, d)
	}
	if late := took - d - d/50 - lock.DefaultPollInterval; c.Start != nil && late > 0 {
		c.Errorf("granted %v late", late)
	}
	c.release(next)
}

// wantDone asks for the resource until then, or until the holder is said to be done: the node that says who holds it may
// get the release last. Nodes that cannot mark a lease cannot write that either.
func (c *subtest) wantDone(l lock.Locker, until time.Time) {
	for !c.NoHolders && c.Capabilities.Revoke {
		_, err := c.asked(l)
		held, ok := errors.AsType[*lock.HeldError](err)
		switch {
		case !time.Now().Before(until):
			c.Errorf("never refused by a holder that is done: %v", err)
			return
		case !ok:
			c.Fatalf("asked before its time: %v", err)
		case held.Holder.Done:
			return
		}
		time.Sleep(c.TTL / 50)
	}
}

func (c *subtest) minHoldPassed() {
	lease := c.acquire(c.locker(), lock.TTL(longTTL), lock.MinHold(time.Millisecond))
	time.Sleep(2 * time.Millisecond)
	c.release(lease)
	c.within(longTTL/2, "Acquire after the minimum hold", func() { c.wantFree(c.locker()) })
}

func (c *subtest) minHoldOfWriter() {
	_, err := c.locker().Acquire(c.context(), c.resource, lock.InMode(lock.ModeRead), lock.MinHold(c.TTL))
	c.wantErr("a reader with a minimum hold", err, lock.ErrInvalidOption)
	began, d := time.Now(), c.TTL/2
	c.release(c.acquire(c.locker(), lock.InMode(lock.ModeWrite), lock.TTL(longTTL), lock.MinHold(d)))
	c.release(c.acquire(c.locker(), lock.InMode(lock.ModeRead)))
	if took := time.Since(began); took < d {
		c.Errorf("a reader was granted after %v of %v", took, d)
	}
}

func (c *subtest) minHoldOfPermit() {
	l, began, d := c.locker(), time.Now(), c.TTL/2
	kept := c.acquire(l, lock.Slots(2), lock.TTL(longTTL), lock.MinHold(d))
	free := c.acquire(l, lock.Slots(2), lock.TTL(longTTL))
	c.release(kept)
	next := c.acquire(l, lock.Slots(2), lock.TTL(longTTL))
	if took := time.Since(began); took < d || next.Resource() != kept.Resource() {
		c.Errorf("%q was granted after %v of %v of %q", next.Resource(), took, d, kept.Resource())
	}
	c.release(free)
	c.release(next)
}
