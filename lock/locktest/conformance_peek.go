package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Peeker is what the suite's tests of Peek need, beside [lock.Locker]. An engine.Engine has it.
type Peeker interface {
	Peek(ctx context.Context, resource string) (lock.Sighting, error)
}

// WithPeek makes the suite fail if the Lockers have no Peek, or if their driver does not support it. Without
// this option the suite skips its tests of Peek then.
func WithPeek() ConformanceOption { return func(s *suite) { s.peek = true } }

func (s *suite) testPeek(t *testing.T) {
	s.run(t, "sees a free resource and leaves it free", (*conformance).peekFree)
	s.run(t, "describes the holder", (*conformance).peekHeld)
	s.run(t, "joins no queue", (*conformance).peekJoinsNoQueue)
	s.run(t, "prolongs no lease", (*conformance).peekProlongsNothing)
	s.run(t, "overtakes no waiter", (*conformance).peekBesideWaiters)
	s.run(t, "refuses bad input", (*conformance).peekBadInput)
}

// peeker makes a Locker that can Peek, or skips the subtest.
func (c *conformance) peeker() Peeker {
	c.Helper()
	p, ok := c.locker().(Peeker)
	if ok {
		if _, err := p.Peek(c.context(), c.resource); !errors.Is(err, errors.ErrUnsupported) {
			return p
		}
	}
	if c.suite.peek {
		c.Fatal("this Locker cannot Peek")
	}
	c.Skip("this Locker cannot Peek")
	return nil
}

// peeks peeks n times, and returns the last sighting.
func (c *conformance) peeks(p Peeker, n int) (s lock.Sighting) {
	c.Helper()
	for range n {
		var err error
		if s, err = p.Peek(c.context(), c.resource); err != nil {
			c.Fatalf("Peek(%q): %v", c.resource, err)
		}
		if s.Resource != c.resource || s.SeenAt.IsZero() {
			c.Errorf("a sighting of %q at %v; %q expected", s.Resource, s.SeenAt, c.resource)
		}
	}
	return s
}

// wantSeen checks that a Peek sees the resource held or free, and soon: an answer of the last node may be on its way
// when a release or an acquire returns.
func (c *conformance) wantSeen(p Peeker, held bool) lock.Sighting {
	c.Helper()
	ctx := c.context()
	for {
		s, err := p.Peek(ctx, c.resource)
		if err == nil && s.Held == held {
			return s
		}
		if ctx.Err() != nil {
			c.Fatalf("Peek(%q) does not see held = %v: %+v, %v", c.resource, held, s, err)
		}
		time.Sleep(time.Millisecond)
	}
}

func (c *conformance) peekFree() {
	p := c.peeker()
	if s := c.peeks(p, 3); s.Held || s.Fence != 0 || !s.NotAfter.IsZero() || s.Holder != (lock.Holder{}) {
		c.Errorf("a free resource: %+v", s)
	}
	lease := c.acquire(c.locker(), lock.NoWait())
	last := lease.Fence()
	c.release(lease)
	c.wantSeen(p, false)
	lease = c.acquire(c.locker(), lock.NoWait())
	c.wantNewer(lease.Fence(), last)
	c.release(lease)
}

func (c *conformance) peekHeld() {
	p := c.peeker()
	before := time.Now().Add(-time.Millisecond).Truncate(time.Millisecond)
	lease := c.acquire(c.locker(), lock.TTL(10*time.Second))
	s := c.wantSeen(p, true)
	if s.Fence > lease.Fence() || !c.suite.fences && s.Fence != 0 {
		c.Errorf("fence %d; that of the lease is %d", s.Fence, lease.Fence())
	}
	if c.suite.fences && s.Fence == 0 {
		c.Error("the fence is missing")
	}
	if c.suite.holders && (s.Holder.Instance == "" || s.Holder.Since.Before(before) || s.Holder.Since.After(time.Now())) {
		c.Errorf("holder %+v; an instance since %v or later expected", s.Holder, before)
	}
	if left := s.NotAfter.Sub(s.SeenAt); c.suite.holders && (left <= 0 || left > patience) {
		c.Errorf("not after %v from then", left)
	}
	c.peeks(p, 3)
	if err := lease.Extend(c.context()); err != nil {
		c.Errorf("Extend after a Peek: %v", err)
	}
	c.release(lease)
	c.wantSeen(p, false)
}

// peekJoinsNoQueue: if a Peek queued, a release would keep the resource for it.
func (c *conformance) peekJoinsNoQueue() {
	p := c.peeker()
	lease := c.acquire(c.locker())
	c.wantSeen(p, true)
	c.peeks(p, 5)
	c.release(lease)
	lease = c.acquire(c.locker(), lock.NoWait())
	c.release(lease)
}

// peekProlongsNothing peeks until a lease that is not renewed has ended on the nodes.
func (c *conformance) peekProlongsNothing() {
	p := c.peeker()
	lease := c.acquire(c.locker(), lock.NoRenew())
	c.within(2*c.suite.ttl+c.soon(), "the end of a lease under Peeks", func() { c.wantSeen(p, false) })
	c.wantEnd(lease, lock.ErrLost)
	c.release(c.acquire(c.locker()))
	_ = lease.Release(c.context())
}

func (c *conformance) peekBesideWaiters() {
	p := c.peeker()
	holder := c.acquire(c.locker())
	w := c.wait(c.context(), c.locker(), lock.Fair())
	c.stillWaiting(w)
	for range 5 {
		c.wantSeen(p, true)
	}
	c.release(holder)
	lease := c.served(w)
	c.wantNewer(lease.Fence(), holder.Fence())
	c.release(lease)
	c.wantFree(c.locker())
}

func (c *conformance) peekBadInput() {
	p := c.peeker()
	_, err := p.Peek(c.context(), "a{b}")
	c.wantErr("Peek at a bad name", err, lock.ErrInvalidResource)
	ctx, cancel := context.WithCancel(c.context())
	cancel()
	_, err = p.Peek(ctx, c.resource)
	c.wantErr("Peek with a cancelled context", err, context.Canceled)
}
