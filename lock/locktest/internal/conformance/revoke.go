package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/semaphore"
)

type revoker interface {
	Revoke(ctx context.Context, resource string, req engine.RevokeRequest) (engine.Revocation, error)
}

// testRevoke: a revoked lease is not renewed, its holder learns who revoked it and why, nobody gets the lock before the
// lease has ended, and the next lease is one like any other.
func (s Suite) testRevoke(t *testing.T) {
	if !s.Capabilities.Revoke {
		s.run(t, "is refused", (*subtest).noRevoke)
		return
	}
	s.run(t, "ends a lease that is renewed", (*subtest).revokesRenewed)
	s.run(t, "is what Extend fails with", (*subtest).revokedExtend)
	s.run(t, "twice keeps the first mark", (*subtest).revokesTwice)
	s.run(t, "does not concern the next lease", (*subtest).nextOfRevoked)
	s.run(t, "does not concern who came since it asked", (*subtest).revokesWhomItAsked)
	s.run(t, "needs a holder", (*subtest).revokesNobody)
	s.run(t, "asks before it marks", (*subtest).revokeNotConfirmed)
	s.run(t, "ends a permit and no other", (*subtest).revokesPermit)
	if s.Capabilities.Readers {
		s.run(t, "ends a writer and no reader", (*subtest).revokesWriter)
		s.run(t, "ends readers and no other", (*subtest).revokesReaders)
		s.run(t, "ends the readers of one instance", (*subtest).revokesReadersOf)
	}
}

func (c *subtest) noRevoke() {
	if r, ok := c.locker().(revoker); ok {
		_, err := r.Revoke(c.context(), c.resource, revokeRequest)
		c.wantErr("Revoke", err, errors.ErrUnsupported)
		_, err = r.Revoke(c.context(), c.resource, readersRequest)
		c.wantErr("Revoke of readers", err, errors.ErrUnsupported)
	}
}

var revokeRequest = engine.RevokeRequest{By: "ops@host", Reason: "disk swap"}

func (c *subtest) revoker() revoker {
	c.Helper()
	r, ok := c.locker().(revoker)
	if !ok {
		c.Fatal("this Locker cannot Revoke")
	}
	return r
}

// revokes revokes the holder's lease, once a quorum is known to have it.
func (c *subtest) revokes(r revoker, req engine.RevokeRequest) engine.Revocation {
	c.Helper()
	ctx := c.context()
	for {
		got, err := r.Revoke(ctx, c.resource, req)
		if err == nil && len(got.Holders) != 1 {
			c.Fatalf("Revoke(%q): %+v", c.resource, got)
		}
		if err == nil {
			return got
		}
		retry := errors.Is(err, lock.ErrNoQuorum) || errors.Is(err, lock.ErrNotHeld)
		if !retry || ctx.Err() != nil {
			c.Fatalf("Revoke(%q): %v", c.resource, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// wantRevoked checks that an error says who revoked the lease and why.
func (c *subtest) wantRevoked(err error, by string) {
	c.Helper()
	revoked, ok := errors.AsType[*lock.RevokedError](err)
	if !ok || revoked.By != by || revoked.Reason != "disk swap" || revoked.Since.IsZero() ||
		!errors.Is(err, lock.ErrLost) {
		c.Errorf("%v; a *RevokedError by %s expected", err, by)
	}
}

func (c *subtest) revokesRenewed() {
	lease := c.acquire(c.locker())
	next := make(chan lock.Lease, 1)
	go func() {
		got, err := c.locker().Acquire(c.context(), c.resource, lock.TTL(c.TTL))
		if err != nil {
			c.Errorf("the next: %v", err)
		}
		next <- got
	}()
	r := c.revokes(c.revoker(), revokeRequest)
	if r.Resource != c.resource || 2*r.Marked <= r.Nodes || r.FreeIn <= 0 {
		c.Errorf("%+v", r)
	}
	if h := r.Holders[0]; !h.Held || h.Again || h.Mark.By != "ops@host" || !c.NoFences && h.Fence != lease.Fence() {
		c.Errorf("%+v of a lease with fence %d", h, lease.Fence())
	}
	got := <-next
	if left := lease.Remaining(); left > 0 {
		c.Errorf("two leases are valid: %v is left", left)
	}
	c.wantEnd(lease, lock.ErrLost)
	c.wantRevoked(context.Cause(lease.Context()), "ops@host")
	_ = lease.Release(c.context())
	if got != nil {
		c.release(got)
	}
}

func (c *subtest) revokedExtend() {
	lease := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL))
	c.revokes(c.revoker(), revokeRequest)
	if err := lease.Context().Err(); err != nil {
		c.Errorf("the lease ended before its holder knew: %v", context.Cause(lease.Context()))
	}
	c.wantRevoked(lease.Extend(c.context()), "ops@host")
	c.wantEnd(lease, lock.ErrLost)
	c.wantRevoked(context.Cause(lease.Context()), "ops@host")
	c.release(lease)
	c.wantFree(c.locker())
}

func (c *subtest) revokesTwice() {
	lease, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL)), c.revoker()
	first := c.revokes(r, revokeRequest).Holders[0]
	again := c.revokes(r, engine.RevokeRequest{By: "another", Reason: "impatience"}).Holders[0]
	if first.Again || !again.Again || again.Mark != first.Mark {
		c.Errorf("%+v, then %+v", first, again)
	}
	c.wantRevoked(lease.Extend(c.context()), "ops@host")
	c.release(lease)
}

func (c *subtest) nextOfRevoked() {
	lease, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL)), c.revoker()
	c.revokes(r, revokeRequest)
	c.release(lease)
	next := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL))
	c.wantNewer(next.Fence(), lease.Fence())
	if err := next.Extend(c.context()); err != nil {
		c.Errorf("the next lease is not extended: %v", err)
	}
	got := c.revokes(r, engine.RevokeRequest{By: "another", Reason: "disk swap"}).Holders[0]
	if got.Again || got.Mark.By != "another" {
		c.Errorf("the next lease: %+v", got)
	}
	c.wantRevoked(next.Extend(c.context()), "another")
	c.release(next)
}

// revokesWhomItAsked lets the lock pass on after the holder was named, and before it is marked.
func (c *subtest) revokesWhomItAsked() {
	lease, r, other := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL)), c.revoker(), c.locker()
	var next lock.Lease
	req := revokeRequest
	req.Confirm = func([]lock.Sighting) error {
		c.release(lease)
		next = c.acquire(other, lock.NoRenew(), lock.TTL(2*c.TTL))
		return nil
	}
	var err error
	for ctx := c.context(); next == nil && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		_, err = r.Revoke(ctx, c.resource, req)
	}
	if next == nil {
		c.Fatalf("Revoke(%q): %v", c.resource, err)
	}
	if err := next.Extend(c.context()); err != nil {
		c.Errorf("the next lease is not extended: %v", err)
	}
	c.release(next)
}

func (c *subtest) revokesNobody() {
	r := c.revoker()
	_, err := r.Revoke(c.context(), c.resource, revokeRequest)
	c.wantErr("Revoke of what nobody held yet", err, lock.ErrNotHeld)
	c.release(c.acquire(c.locker()))
	for ctx := c.context(); ; time.Sleep(time.Millisecond) { // a release may be on its way to some nodes
		if _, err = r.Revoke(ctx, c.resource, revokeRequest); !errors.Is(err, lock.ErrNoQuorum) || ctx.Err() != nil {
			break
		}
	}
	c.wantErr("Revoke of what was released", err, lock.ErrNotHeld)
}

func (c *subtest) revokeNotConfirmed() {
	lease, refused, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.TTL)), errors.New("no"), c.revoker()
	req := revokeRequest
	req.Confirm = func(all []lock.Sighting) error {
		if len(all) != 1 || !c.NoFences && all[0].Fence != lease.Fence() || !all[0].Held {
			c.Errorf("to confirm: %+v", all)
		}
		return refused
	}
	var err error
	for ctx := c.context(); ; time.Sleep(time.Millisecond) { // a grant may be on its way to some nodes
		if _, err = r.Revoke(ctx, c.resource, req); errors.Is(err, refused) || ctx.Err() != nil {
			break
		}
	}
	c.wantErr("Revoke that is not confirmed", err, refused)
	req.Instance, req.Confirm = "another", nil
	for ctx := c.context(); ; time.Sleep(time.Millisecond) {
		if _, err = r.Revoke(ctx, c.resource, req); !errors.Is(err, lock.ErrNoQuorum) || ctx.Err() != nil {
			break
		}
	}
	c.wantErr("Revoke of another instance's lease", err, lock.ErrNotHeld)
	if err := lease.Extend(c.context()); err != nil {
		c.Errorf("the lease is not extended: %v", err)
	}
	c.release(lease)
}

// revokesPermit of one slot; the other permit stays.
func (c *subtest) revokesPermit() {
	s := c.semaphore(c.locker(), 2)
	permits := make([]*semaphore.Permit, 2)
	for range permits {
		p, err := s.Acquire(c.context(), lock.TTL(2*c.TTL), lock.NoRenew())
		if err != nil {
			c.Fatal(err)
		}
		permits[p.Slot()] = p
	}
	slot := *c
	slot.resource += "#1"
	slot.revokes(c.revoker(), revokeRequest)
	c.wantRevoked(permits[1].Extend(c.context()), "ops@host")
	if err := permits[0].Extend(c.context()); err != nil {
		c.Errorf("the other permit is not extended: %v", err)
	}
	for _, p := range permits {
		c.giveBack(p)
	}
}

func (c *subtest) revokesWriter() {
	rw, r, ttl := c.rw(), c.revoker(), lock.TTL(2*c.TTL)
	reader := c.held(rw.RLock, ttl, lock.NoRenew())
	var err error
	for ctx := c.context(); ; time.Sleep(time.Millisecond) {
		_, err = r.Revoke(ctx, c.resource, revokeRequest)
		if errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
			break
		}
	}
	c.wantErr("Revoke of readers", err, errors.ErrUnsupported)
	if err := reader.Extend(c.context()); err != nil {
		c.Errorf("the reader is not extended: %v", err)
	}
	c.release(reader)
	writer := c.held(rw.Lock, ttl, lock.NoRenew())
	c.revokes(r, revokeRequest)
	c.wantRevoked(writer.Extend(c.context()), "ops@host")
	c.release(writer)
}
