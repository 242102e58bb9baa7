package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// Revoker is what [TestRevoke] needs, beside [lock.Locker]. An engine.Engine has it.
type Revoker interface {
	Revoke(ctx context.Context, resource string, req lock.RevokeRequest) (lock.Revocation, error)
	RevokeReaders(ctx context.Context, resource string, req lock.RevokeReadersRequest) (lock.ReadersRevocation, error)
}

// TestRevoke checks what engine.Engine says of Revoke, for drivers whose nodes implement driver.Revoker: a revoked
// lease is not renewed, its holder learns who revoked it and why, nobody gets the lock before the lease has ended, and
// the next lease is one like any other. Readers are revoked where the nodes list them. newLocker and opts are those of
// [TestLocker].
func TestRevoke(t *testing.T, newLocker func(t testing.TB) lock.Locker, opts ...ConformanceOption) {
	newSuite(newLocker, opts).testRevoke(t)
}

// TestRevokeInFakeTime is TestRevoke as [TestLockerInFakeTime] is TestLocker.
func TestRevokeInFakeTime(t *testing.T, start func(t testing.TB) func(testing.TB) lock.Locker,
	opts ...ConformanceOption) {
	s := newSuite(nil, opts)
	s.start = start
	s.testRevoke(t)
}

func (s *suite) testRevoke(t *testing.T) {
	s.run(t, "ends a lease that is renewed", (*conformance).revokesRenewed)
	s.run(t, "is what Extend fails with", (*conformance).revokedExtend)
	s.run(t, "twice keeps the first mark", (*conformance).revokesTwice)
	s.run(t, "does not concern the next lease", (*conformance).nextOfRevoked)
	s.run(t, "does not concern who came since it asked", (*conformance).revokesWhomItAsked)
	s.run(t, "needs a holder", (*conformance).revokesNobody)
	s.run(t, "asks before it marks", (*conformance).revokeNotConfirmed)
	s.run(t, "ends a writer and no reader", (*conformance).revokesWriter)
	s.run(t, "ends readers and no other", (*conformance).revokesReaders)
}

var revokeRequest = lock.RevokeRequest{By: "ops@host", Reason: "disk swap"}

func (c *conformance) revoker() Revoker {
	c.Helper()
	r, ok := c.locker().(Revoker)
	if !ok {
		c.Fatal("this Locker cannot Revoke")
	}
	return r
}

// revokes revokes the holder's lease, once a quorum is known to have it.
func (c *conformance) revokes(r Revoker, req lock.RevokeRequest) lock.Revocation {
	c.Helper()
	ctx := c.context()
	for {
		got, err := r.Revoke(ctx, c.resource, req)
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
func (c *conformance) wantRevoked(err error, by string) {
	c.Helper()
	revoked, ok := errors.AsType[*lock.RevokedError](err)
	if !ok || revoked.By != by || revoked.Reason != "disk swap" || revoked.Since.IsZero() ||
		!errors.Is(err, lock.ErrLost) {
		c.Errorf("%v; a *RevokedError by %s expected", err, by)
	}
}

func (c *conformance) revokesRenewed() {
	lease := c.acquire(c.locker())
	next := make(chan lock.Lease, 1)
	go func() {
		got, err := c.locker().Acquire(c.context(), c.resource, lock.TTL(c.suite.ttl))
		if err != nil {
			c.Errorf("the next: %v", err)
		}
		next <- got
	}()
	r := c.revokes(c.revoker(), revokeRequest)
	if r.Resource != c.resource || !r.Held || r.Again || 2*r.Marked <= r.Nodes || r.FreeIn <= 0 ||
		r.Mark.By != "ops@host" {
		c.Errorf("%+v", r)
	}
	if c.suite.fences && r.Fence != lease.Fence() {
		c.Errorf("fence %d of a lease with %d", r.Fence, lease.Fence())
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

func (c *conformance) revokedExtend() {
	lease := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl))
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

func (c *conformance) revokesTwice() {
	lease, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl)), c.revoker()
	first := c.revokes(r, revokeRequest)
	again := c.revokes(r, lock.RevokeRequest{By: "another", Reason: "impatience"})
	if first.Again || !again.Again || again.Mark != first.Mark {
		c.Errorf("%+v, then %+v", first, again)
	}
	c.wantRevoked(lease.Extend(c.context()), "ops@host")
	c.release(lease)
}

func (c *conformance) nextOfRevoked() {
	lease, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl)), c.revoker()
	c.revokes(r, revokeRequest)
	c.release(lease)
	next := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl))
	c.wantNewer(next.Fence(), lease.Fence())
	if err := next.Extend(c.context()); err != nil {
		c.Errorf("the next lease is not extended: %v", err)
	}
	if got := c.revokes(r, lock.RevokeRequest{By: "another", Reason: "disk swap"}); got.Again || got.Mark.By != "another" {
		c.Errorf("the next lease: %+v", got)
	}
	c.wantRevoked(next.Extend(c.context()), "another")
	c.release(next)
}

// revokesWhomItAsked lets the lock pass on after the holder was named, and before it is marked.
func (c *conformance) revokesWhomItAsked() {
	lease, r, other := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl)), c.revoker(), c.locker()
	var next lock.Lease
	req := revokeRequest
	req.Confirm = func(lock.Sighting) error {
		c.release(lease)
		next = c.acquire(other, lock.NoRenew(), lock.TTL(2*c.suite.ttl))
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

func (c *conformance) revokesNobody() {
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

func (c *conformance) revokeNotConfirmed() {
	lease, refused, r := c.acquire(c.locker(), lock.NoRenew(), lock.TTL(2*c.suite.ttl)), errors.New("no"), c.revoker()
	req := revokeRequest
	req.Confirm = func(s lock.Sighting) error {
		if c.suite.fences && s.Fence != lease.Fence() || !s.Held {
			c.Errorf("to confirm: %+v", s)
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
	if err := lease.Extend(c.context()); err != nil {
		c.Errorf("the lease is not extended: %v", err)
	}
	c.release(lease)
}

// revokesWriter skips its test if the nodes have no readers.
func (c *conformance) revokesWriter() {
	rw, err := rwlock.New(c.locker(), c.resource)
	if err != nil {
		c.Fatal(err)
	}
	r, ttl := c.revoker(), lock.TTL(2*c.suite.ttl)
	reader, err := rw.RLock(c.context(), ttl, lock.NoRenew())
	if errors.Is(err, errors.ErrUnsupported) {
		c.Skip(err)
	} else if err != nil {
		c.Fatal(err)
	}
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
	writer, err := rw.Lock(c.context(), ttl, lock.NoRenew())
	if err != nil {
		c.Fatal(err)
	}
	c.revokes(r, revokeRequest)
	c.wantRevoked(writer.Extend(c.context()), "ops@host")
	c.release(writer)
}
