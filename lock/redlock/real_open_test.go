package redlock_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// The tests of this file say what happens today, and should not: two valid leases. They turn around when the proof that a node
// remembers, and for which set of nodes it votes, lies on the node (issue 11).

// wantTwoLeases requires that the second lease was given while the first is valid. That fences increase is all there is
// to protect a resource then.
func wantTwoLeases(t *testing.T, first, second lock.Lease) {
	t.Helper()
	if first.Remaining() <= 0 || second.Remaining() <= 0 {
		t.Errorf("not two valid leases any more: %v and %v left", first.Remaining(), second.Remaining())
	}
}

// twoOfThree holds a resource on the first two of three nodes.
func twoOfThree(t *testing.T) (f *realNodes, held lock.Lease) {
	t.Helper()
	f = startNodes(t, 3)
	f.vouchForAll()
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	held = acquire(t, guardedLocker(t, f.through(proxy, 2)), "job", lock.TTL(longTTL), lock.NoRenew())
	return f, held
}

// guardedLocker has every default of the guard.
func guardedLocker(t *testing.T, clients []redis.UniversalClient, opts ...lock.Option) *lock.Engine {
	t.Helper()
	l, err := redlock.New(clients, append([]lock.Option{lock.WithNodeTimeout(nodeTimeout)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func TestRealOpenFlushed(t *testing.T) {
	t.Parallel()
	f, held := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context())) // what was vouched for is known
	must(t, f.admin[1].FlushAll(t.Context()).Err())
	wantTwoLeases(t, held, acquire(t, other, "job", lock.TTL(longTTL)))
}

func TestRealOpenReplicaAndBack(t *testing.T) {
	t.Parallel()
	f, held := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	f.config("repl-diskless-sync-delay", "0", 2)
	follow := func(host, port string) { must(t, f.admin[1].SlaveOf(t.Context(), host, port).Err()) }
	follow("127.0.0.1", portOf(f, 2))
	eventually(t, settleTime, "the node has another's keys", func() bool { return len(f.keys("lock:job", 1)) == 0 })
	follow("NO", "ONE")
	wantTwoLeases(t, held, acquire(t, other, "job", lock.TTL(longTTL)))
}

func TestRealOpenSnapshotRestoredInPlace(t *testing.T) {
	t.Parallel()
	f, held := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	// What was there before the lock is back, and the lock is not.
	snapshot := make(map[string]string)
	for _, key := range f.admin[1].Keys(t.Context(), "*").Val() {
		if key != "lock:job" {
			snapshot[key] = f.admin[1].Dump(t.Context(), key).Val()
		}
	}
	must(t, f.admin[1].FlushAll(t.Context()).Err())
	for key, value := range snapshot {
		must(t, f.admin[1].Restore(t.Context(), key, 0, value).Err())
	}
	wantTwoLeases(t, held, acquire(t, other, "job", lock.TTL(longTTL)))
}

// TestRealOpenMembersChange: three nodes become five while processes of before are still running.
func TestRealOpenMembersChange(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 5)
	three := &realNodes{t: t, servers: f.servers[:3], admin: f.admin[:3]}
	off := redlock.WithRestartQuarantine(0)
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	old := acquire(t, guardedLocker(t, three.through(proxy, 2), off), "job", lock.TTL(longTTL), lock.NoRenew())
	wantTwoLeases(t, old, acquire(t, guardedLocker(t, f.clients(), off), "job", lock.TTL(longTTL)))
}

// TestRealOpenMaxTTLsDiffer: a process that keeps a restarted node silent for its own MaxTTL lets it vote while a lock with
// another's may be valid.
func TestRealOpenMaxTTLsDiffer(t *testing.T) {
	t.Parallel()
	f, held := twoOfThree(t)
	f.kill(1)
	f.wipe(1)
	f.restart(1)
	short := guardedLocker(t, f.clients(), lock.WithMaxTTL(2*nodeTimeout*4), lock.WithDefaults(lock.TTL(nodeTimeout*4)))
	var second lock.Lease
	eventually(t, settleTime, "the node votes", func() (ok bool) {
		var err error
		second, err = short.Acquire(t.Context(), "job", lock.NoWait())
		return err == nil
	})
	wantTwoLeases(t, held, second)
}
