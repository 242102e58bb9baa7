package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testLease(t *testing.T) {
	s.run(t, "Remaining falls from the TTL", (*subtest).remaining)
	s.run(t, "context carries the caller's values", (*subtest).contextValues)
	s.run(t, "ends with the caller's context", (*subtest).parentEnds)
	s.run(t, "is renewed beyond its TTL", (*subtest).renewed)
	s.run(t, "extended by hand", (*subtest).extended)
}

func (c *subtest) remaining() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	last := lease.Remaining()
	if last <= 0 || last > c.TTL {
		c.Errorf("Remaining() = %v right after Acquire; between 0 and %v expected", last, c.TTL)
	}
	for range 3 {
		time.Sleep(time.Millisecond)
		left := lease.Remaining()
		if left >= last {
			c.Errorf("Remaining() = %v after %v: it does not fall", left, last)
		}
		last = left
	}
	c.release(lease)
	if left := lease.Remaining(); left > 0 {
		c.Errorf("Remaining() = %v after Release", left)
	}
}

func (c *subtest) contextValues() {
	type key struct{}
	lease := c.acquireIn(context.WithValue(c.context(), key{}, "value"), c.locker())
	if lease.Context().Value(key{}) != "value" {
		c.Error("the lease's context does not descend from Acquire's")
	}
	if err := lease.Context().Err(); err != nil {
		c.Errorf("the lease's context has ended: %v", err)
	}
	c.release(lease)
}

func (c *subtest) parentEnds() {
	mine := errors.New("the caller's own reason")
	ctx, cancel := context.WithCancelCause(c.context())
	lease := c.acquireIn(ctx, c.locker())
	cancel(mine)
	c.wantEnd(lease, mine)
	c.release(lease)
	c.wantFree(c.locker())
}

func (c *subtest) renewed() {
	lease, other := c.acquire(c.locker()), c.locker()
	for end := time.Now().Add(2*c.TTL + c.TTL/2); time.Now().Before(end); time.Sleep(c.TTL / 10) {
		if err := lease.Context().Err(); err != nil {
			c.Fatalf("lease ended: %v", context.Cause(lease.Context()))
		}
		if left := lease.Remaining(); left <= 0 {
			c.Fatalf("Remaining() = %v, and the context has not ended", left)
		}
	}
	_, err := c.asked(other)
	c.wantErr("Acquire of a renewed lease's resource", err, lock.ErrHeld)
	c.release(lease)
}

func (c *subtest) extended() {
	lease := c.acquire(c.locker(), lock.NoRenew())
	for range 3 {
		time.Sleep(c.TTL / 2)
		before := lease.Remaining()
		if err := lease.Extend(c.context()); err != nil {
			c.Fatalf("Extend with %v left: %v", before, err)
		}
		if after := lease.Remaining(); after <= before || after > c.TTL {
			c.Errorf("Remaining() = %v after Extend, %v before", after, before)
		}
	}
	c.release(lease)
	c.wantErr("Extend after Release", lease.Extend(c.context()), lock.ErrReleased)
}
