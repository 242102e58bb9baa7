package lock_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRealSentinelFailover has a master and its replica as the one node, found through a sentinel.
func TestRealSentinelFailover(t *testing.T) {
	f := startNodes(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), f.servers[0], f.servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	given := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: redisproc.MasterName, SentinelAddrs: []string{sentinel.Addr()},
	})
	t.Cleanup(func() { must(t, given.Close()) })
	l := newLocker(t, []redis.UniversalClient{given})

	lease := acquire(t, l, "job", lock.TTL(longTTL))
	if len(f.keys("lock:job", 0)) != 1 {
		t.Error("the lock is not on the master")
	}
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	f.wantNoLocks(0)
	before := lease.Fence()

	f.kill(0)
	var again lock.Lease
	eventually(t, 15*time.Second, "the lock works on the new master", func() bool {
		again, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return err == nil
	})
	if again.Fence() <= before {
		t.Errorf("fence %d after %d", again.Fence(), before)
	}
	must(t, again.Release(t.Context()))
	f.wantNoLocks(1)
}
