package etcdlock_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func TestRevoke(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	locktest.TestRevoke(t, func(t testing.TB) lock.Locker { return locker(t, c, lock.WithNodeTimeout(nodeTimeout)) },
		locktest.WithTTL(suiteTTL))
}

// TestRevokedPermit: that permit ends and no other. The mark is no lock, and no waiter.
func TestRevokedPermit(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	pool, err := semaphore.New(locker(t, c), "pool", 2)
	must(t, err)
	permits := make([]*semaphore.Permit, 2)
	for range permits {
		p, err := pool.Acquire(t.Context(), lock.NoRenew())
		must(t, err)
		permits[p.Slot()] = p
	}
	_, err = locker(t, c).Revoke(t.Context(), "pool#1", lock.RevokeRequest{By: "ops@host", Reason: "disk swap"})
	must(t, err)
	held, err := etcdlock.ReadHeldLocks(t.Context(), client(t, c), lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	must(t, err)
	waiting, err := etcdlock.ReadWaiting(t.Context(), client(t, c), lock.DefaultPrefix)
	must(t, err)
	if len(held) != 2 || len(waiting) != 0 {
		t.Errorf("held %+v, waiting %+v", held, waiting)
	}
	if err := permits[1].Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("extended: %v", err)
	}
	must(t, permits[0].Extend(t.Context()))
	for _, p := range permits {
		must(t, p.Release(t.Context()))
	}
}

// TestRevokeOfOneReader leaves the other readers alone.
func TestRevokeOfOneReader(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	reads := func(instance string) lock.Lease {
		rw, err := rwlock.New(locker(t, c, lock.WithInstance(instance)), "job")
		must(t, err)
		lease, err := rw.RLock(t.Context(), lock.NoRenew())
		must(t, err)
		return lease
	}
	one, other := reads("web-1"), reads("web-2")
	l := locker(t, c)
	req := lock.RevokeReadersRequest{By: "ops@host", Reason: "disk swap", Instance: "web-1"}
	for _, again := range []bool{false, true} {
		r, err := l.RevokeReaders(t.Context(), "job", req)
		if must(t, err); len(r.Readers) != 1 || r.Readers[0].Fence != one.Fence() || r.Readers[0].Again != again {
			t.Errorf("%+v", r)
		}
	}
	if err := one.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("extended: %v", err)
	}
	must(t, other.Extend(t.Context()))
	must(t, one.Release(t.Context()))
	if _, err := l.RevokeReaders(t.Context(), "job", req); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("web-1 reads no more: %v", err)
	}
	must(t, other.Extend(t.Context()))
	must(t, other.Release(t.Context()))
}
