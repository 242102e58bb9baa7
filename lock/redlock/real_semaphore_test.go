package redlock_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestRealSemaphoreRights: the rights that locks need are enough for a semaphore, and for a change of its slots.
func TestRealSemaphoreRights(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.vouchForAll()
	for _, c := range f.admin {
		runACL(t, c, leastPrivilege)
	}
	l := newLocker(t, f.clientsAs("lockscope", aclPassword), lock.WithNodeTimeout(patience))
	s, err := semaphore.New(l, "pool", 2)
	must(t, err)
	p, err := s.Acquire(t.Context(), lock.TTL(longTTL))
	must(t, err)
	must(t, l.Resize(t.Context(), "pool", 2, 5))
	must(t, p.Extend(t.Context()))
	must(t, p.Release(t.Context()))
}

// TestRealSemaphoreCommands: a permit costs what a lock costs, one call of a script for each node.
func TestRealSemaphoreCommands(t *testing.T) {
	t.Parallel()
	server := locktest.Servers(t, 1)[0]
	admin := plainClient(t, &redis.Options{Addr: server.Addr()})
	l := newLocker(t, []redis.UniversalClient{plainClient(t, &redis.Options{Addr: server.Addr()})},
		redlock.WithRestartQuarantine(0))
	s, err := semaphore.New(l, "pool", 2)
	must(t, err)
	use := func() {
		p, err := s.Acquire(t.Context(), lock.TTL(longTTL))
		must(t, err)
		must(t, p.Release(t.Context()))
	}
	use()
	must(t, admin.ConfigResetStat(t.Context()).Err())
	for range 10 {
		use()
	}
	stats := admin.Info(t.Context(), "commandstats").Val()
	if got := statsOf(stats, "evalsha", "eval", "script|load"); got != "evalsha=20 " {
		t.Errorf("ten permits cost %s\n%s", got, stats)
	}
}
