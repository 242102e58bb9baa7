package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

type peeker interface {
	Peek(ctx context.Context, resource string) (lock.Sighting, error)
}

func (s Suite) testPeek(t *testing.T) {
	if !s.Capabilities.Peek {
		s.run(t, "is refused", (*subtest).noPeek)
		return
	}
	s.run(t, "sees a free resource and leaves it free", (*subtest).peekFree)
	s.run(t, "describes the holder", (*subtest).peekHeld)
	s.run(t, "joins no queue", (*subtest).peekJoinsNoQueue)
	s.run(t, "prolongs no lease", (*subtest).peekProlongsNothing)
	s.run(t, "overtakes no waiter", (*subtest).peekBesideWaiters)
	s.run(t, "refuses bad input", (*subtest).peekBadInput)
	s.run(t, "lets observers see each term", (*subtest).observesTerms)
}

func (c *subtest) noPeek() {
	if p, ok := c.locker().(peeker); ok {
		_, err := p.Peek(c.context(), c.resource)
		c.wantErr("Peek", err, errors.ErrUnsupported)
	}
}

func (c *subtest) peeker() peeker {
	c.Helper()
	p, ok := c.locker().(peeker)
	if !ok {
		c.Fatal("this Locker has no Peek")
	}
	return p
}

// peeks peeks n times, and returns the last sighting.
func (c *subtest) peeks(p peeker, n int) (s lock.Sighting) {
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
func (c *subtest) wantSeen(p peeker, held bool) lock.Sighting {
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

func (c *subtest) peekFree() {
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

func (c *subtest) peekHeld() {
	p := c.peeker()
	before := time.Now().Add(-time.Millisecond).Truncate(time.Millisecond)
	lease := c.acquire(c.locker(), lock.TTL(10*time.Second))
	s := c.wantSeen(p, true)
	if s.Fence > lease.Fence() || c.NoFences && s.Fence != 0 {
		c.Errorf("fence %d; that of the lease is %d", s.Fence, lease.Fence())
	}
	if !c.NoFences && s.Fence == 0 {
		c.Error("the fence is missing")
	}
	if !c.NoHolders && (s.Holder.Instance == "" || s.Holder.Since.Before(before) || s.Holder.Since.After(time.Now())) {
		c.Errorf("holder %+v; an instance since %v or later expected", s.Holder, before)
	}
	if left := s.NotAfter.Sub(s.SeenAt); !c.NoHolders && (left <= 0 || left > patience) {
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
func (c *subtest) peekJoinsNoQueue() {
	p := c.peeker()
	lease := c.acquire(c.locker())
	c.wantSeen(p, true)
	c.peeks(p, 5)
	c.release(lease)
	lease = c.acquire(c.locker(), lock.NoWait())
	c.release(lease)
}

// peekProlongsNothing peeks until a lease that is not renewed has ended on the nodes.
func (c *subtest) peekProlongsNothing() {
	p := c.peeker()
	lease := c.acquire(c.locker(), lock.NoRenew())
	c.within(2*c.TTL+c.soon(), "the end of a lease under Peeks", func() { c.wantSeen(p, false) })
	c.wantEnd(lease, lock.ErrLost)
	c.release(c.acquire(c.locker()))
	_ = lease.Release(c.context())
}

func (c *subtest) peekBesideWaiters() {
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

func (c *subtest) peekBadInput() {
	p := c.peeker()
	_, err := p.Peek(c.context(), "a{b}")
	c.wantErr("Peek at a bad name", err, lock.ErrInvalidResource)
	ctx, cancel := context.WithCancel(c.context())
	cancel()
	_, err = p.Peek(ctx, c.resource)
	c.wantErr("Peek with a cancelled context", err, context.Canceled)
}

// observesTerms campaigns, resigns, and campaigns again beside an observer.
func (c *subtest) observesTerms() {
	observer := c.peeker()
	for range 2 {
		c.observesTerm(observer)
	}
}

func (c *subtest) observesTerm(observer peeker) {
	term, err := election.Campaign(c.context(), c.locker(), c.resource)
	if err != nil {
		c.Fatal(err)
	}
	led := false
	for seen, err := range election.Observe(c.context(), observer, c.resource, election.Interval(50*time.Millisecond)) {
		switch {
		case err != nil:
			c.Fatal(err)
		case !led && !seen.Vacant:
			if led = true; !c.NoHolders && seen.Leader.Kind != lock.KindElection ||
				!c.NoFences && seen.Term != term.Number() {
				c.Errorf("%+v; term %d expected", seen, term.Number())
			}
			if err := term.Resign(c.context()); err != nil {
				c.Fatal(err)
			}
		case led && seen.Vacant:
			return
		}
	}
	c.Fatal("the observer does not see the term and its end")
}
