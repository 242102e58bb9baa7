package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

var swap = engine.RevokeRequest{By: "ops@host", Reason: "disk swap"}

// wantRevoked waits until the lease has ended, and checks that its cause says who revoked it and why.
func wantRevoked(t *testing.T, lease lock.Lease) {
	t.Helper()
	select {
	case <-lease.Context().Done():
	case <-time.After(waitTime):
		t.Fatal("the lease goes on")
	}
	cause := context.Cause(lease.Context())
	revoked, ok := errors.AsType[*lock.RevokedError](cause)
	if !ok || revoked.By != "ops@host" || revoked.Reason != "disk swap" || revoked.Since.IsZero() ||
		!errors.Is(cause, lock.ErrLost) {
		t.Errorf("cause %v", cause)
	}
}

// TestRealRevoke: the lease of a live holder ends, and only then the next caller gets the lock, although the holder
// does not release it. One of five nodes hangs meanwhile, or is gone.
func TestRealRevoke(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*realNodes){
		"all answer": func(*realNodes) {},
		"one hangs":  func(f *realNodes) { f.pause(4) },
		"one died":   func(f *realNodes) { f.kill(4) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 5)
			holder, next, operator := f.locker(), f.locker(), f.locker()
			const ttl = 6 * time.Second // long enough for a round of renewal on a busy machine
			lease := acquire(t, holder, "job", lock.TTL(ttl))
			fault(f)
			t.Cleanup(func() {
				if name == "one hangs" {
					f.resume(4)
				}
			})
			waiting := acquireAsync(t.Context(), next, "job", lock.TTL(longTTL), lock.MaxWait(waitTime))
			r := revokeWhenSeen(t, operator)
			if r.Marked < 3 || r.Nodes != 5 || r.FreeIn > ttl || r.Holders[0].Fence != lease.Fence() {
				t.Errorf("%+v", r)
			}
			got := <-waiting
			if must(t, got.err); lease.Context().Err() == nil || lease.Remaining() > 0 {
				t.Errorf("two leases are valid: %v is left", lease.Remaining())
			}
			wantRevoked(t, lease)
			must(t, got.lease.Release(t.Context()))
		})
	}
}

// revokeWhenSeen revokes "job" once a quorum is known to have it: a busy machine may not answer in time.
func revokeWhenSeen(t *testing.T, l *engine.Engine) (r engine.Revocation) {
	t.Helper()
	eventually(t, waitTime, "the lease is revoked", func() (done bool) {
		var err error
		r, err = l.Revoke(t.Context(), "job", swap)
		if err != nil && !errors.Is(err, lock.ErrNoQuorum) && !errors.Is(err, lock.ErrNotHeld) {
			t.Fatal(err)
		}
		return err == nil
	})
	return r
}

// TestRealDeletedKeyOverlaps is the control: who deletes the keys instead makes a second valid lease.
func TestRealDeletedKeyOverlaps(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	lease := acquire(t, f.locker(), "job", lock.TTL(longTTL), lock.NoRenew())
	eventually(t, settleTime, "every node has the lock", func() bool { return len(f.keys("lock:job", f.all()...)) == 3 })
	for _, c := range f.admin {
		must(t, c.Del(t.Context(), "lock:job").Err())
	}
	next := acquire(t, f.locker(), "job", lock.TTL(longTTL))
	if lease.Remaining() <= 0 || next.Remaining() <= 0 || lease.Context().Err() != nil {
		t.Errorf("no overlap: %v and %v are left", lease.Remaining(), next.Remaining())
	}
}

// TestRealRevokeChangesNothingElse: the lock has the TTL that it had, the token is nowhere else, and the next lease is
// renewed as any other. A second revoke returns the mark of the first.
func TestRealRevokeChangesNothingElse(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	operator := f.locker(lock.WithNodeTimeout(patience))
	if _, err := operator.Revoke(t.Context(), "job", swap); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("nobody holds it: %v", err)
	}
	lease := acquire(t, f.locker(lock.WithNodeTimeout(patience)), "job", lock.TTL(longTTL), lock.NoRenew())
	value := f.admin[0].Get(t.Context(), "lock:job").Val()
	first, err := operator.Revoke(t.Context(), "job", swap)
	must(t, err)
	again, err := operator.Revoke(t.Context(), "job", engine.RevokeRequest{By: "another", Reason: "impatience"})
	if must(t, err); !again.Holders[0].Again || again.Holders[0].Mark != first.Holders[0].Mark || first.Holders[0].Again {
		t.Errorf("%+v, then %+v", first, again)
	}
	if after := f.admin[0].Get(t.Context(), "lock:job").Val(); after != value || lease.Context().Err() != nil {
		t.Errorf("the lock was %q and is %q; the lease: %v", value, after, context.Cause(lease.Context()))
	}
	if err := lease.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("extended: %v", err)
	}
	wantRevoked(t, lease)
	must(t, lease.Release(t.Context()))
	next := acquire(t, f.locker(lock.WithNodeTimeout(patience)), "job", lock.TTL(longTTL))
	must(t, next.Extend(t.Context()))
	must(t, next.Release(t.Context()))
}

// TestRealRevokeOfAnotherLibrary is refused, and the key stays as it is.
func TestRealRevokeOfAnotherLibrary(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	must(t, f.admin[0].Set(t.Context(), "lock:job", "their-token", longTTL).Err())
	_, err := f.locker(lock.WithNodeTimeout(patience)).Revoke(t.Context(), "job", swap)
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	wantText(t, err, "lockscope repair")
	if keys := f.keys("lockscope:tomb:*", 0); len(keys) > 0 || f.admin[0].Get(t.Context(), "lock:job").Val() != "their-token" {
		t.Errorf("it wrote %q", keys)
	}
}
