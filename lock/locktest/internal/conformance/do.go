package conformance

import (
	"context"
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testDo(t *testing.T) {
	s.run(t, "holds while fn runs", (*subtest).doHolds)
	s.run(t, "joins the errors", (*subtest).doJoins)
	s.run(t, "releases on panic", (*subtest).doPanics)
	s.run(t, "does not run without the lock", (*subtest).doHeld)
	s.run(t, "fails if the lease was lost", (*subtest).doLost)
}

func (c *subtest) doHolds() {
	other, ran := c.locker(), false
	err := lock.Do(c.context(), c.locker(), c.resource, func(ctx context.Context, lease lock.Lease) error {
		ran = true
		if ctx != lease.Context() {
			c.Error("the context is not the lease's")
		}
		_, err := c.asked(other)
		c.wantErr("Acquire beside Do", err, lock.ErrHeld)
		return nil
	})
	if err != nil || !ran {
		c.Errorf("Do = %v, ran %v", err, ran)
	}
	c.wantFree(other)
}

func (c *subtest) doJoins() {
	mine := errors.New("fn failed")
	err := lock.Do(c.context(), c.locker(), c.resource, func(context.Context, lock.Lease) error { return mine })
	c.wantErr("Do", err, mine)
	c.wantFree(c.locker())
}

func (c *subtest) doPanics() {
	func() {
		defer func() {
			if r := recover(); r != "fn panics" {
				c.Errorf("recovered %v", r)
			}
		}()
		_ = lock.Do(c.context(), c.locker(), c.resource, func(context.Context, lock.Lease) error { panic("fn panics") })
	}()
	c.wantFree(c.locker())
}

func (c *subtest) doHeld() {
	lease := c.acquire(c.locker())
	err := lock.Do(c.context(), c.locker(), c.resource, func(context.Context, lock.Lease) error {
		c.Error("fn ran without the lock")
		return nil
	}, lock.NoWait())
	c.wantErr("Do on a held resource", err, lock.ErrHeld)
	c.release(lease)
}

func (c *subtest) doLost() {
	mine := errors.New("fn failed too")
	err := lock.Do(c.context(), c.locker(), c.resource, func(ctx context.Context, _ lock.Lease) error {
		<-ctx.Done()
		return mine
	}, lock.TTL(c.TTL), lock.NoRenew())
	c.wantErr("Do with a lease that was lost", err, lock.ErrLost, mine)
}
