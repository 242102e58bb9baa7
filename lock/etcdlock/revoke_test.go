package etcdlock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// TestAMarkIsNoLock, and no waiter.
func TestAMarkIsNoLock(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	l := locker(t, c)
	lease, err := l.Acquire(t.Context(), "job", lock.NoRenew())
	must(t, err)
	_, err = l.Revoke(t.Context(), "job", engine.RevokeRequest{By: "ops@host", Reason: "disk swap"})
	must(t, err)
	held, err := etcdlock.ReadHeldLocks(t.Context(), client(t, c), lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	must(t, err)
	waiting, err := etcdlock.ReadWaiting(t.Context(), client(t, c), lock.DefaultPrefix)
	must(t, err)
	if len(held) != 1 || len(waiting) != 0 {
		t.Errorf("held %+v, waiting %+v", held, waiting)
	}
	must(t, lease.Release(t.Context()))
}
