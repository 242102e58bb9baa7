package redlock_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// In the tests of this file a node forgets a lock, or votes in another set, while a lease is valid. No other caller may
// get a lease.

// wantNoSecondLease requires that no other caller gets the resource while the lease is valid, and that the error gives
// the reason.
func wantNoSecondLease(t *testing.T, held lock.Lease, other *engine.Engine, targets ...error) {
	t.Helper()
	_, _ = refused(t, other, "job", targets...)
	if held.Remaining() <= 0 {
		t.Fatal("the lease under test is over")
	}
}

// refused asks for a resource until the answer matches every target or all nodes have answered: on a busy machine some
// may miss the node timeout. A lease fails the test. It returns the answer, and how long it took.
func refused(t *testing.T, l lock.Locker, resource string, targets ...error) (took time.Duration, err error) {
	t.Helper()
	for asked := time.Now(); ; {
		began := time.Now()
		lease, err := l.Acquire(t.Context(), resource, lock.NoWait())
		took = time.Since(began)
		if err == nil {
			must(t, lease.Release(t.Context()))
			t.Fatalf("%q was granted, which was to be refused", resource)
		}
		missing := func(target error) bool { return !errors.Is(err, target) }
		if !slices.ContainsFunc(targets, missing) || !unanswered(err) || time.Since(asked) > settleTime {
			wantErr(t, err, targets...)
			return took, err
		}
	}
}

func unanswered(err error) bool {
	return errors.Is(err, driver.ErrTimeout) || errors.Is(err, driver.ErrNotSent)
}

// twoOfThree acquires a resource on the first two of three nodes.
func twoOfThree(t *testing.T, opts ...lock.Option) (f *realNodes, lease lock.Lease) {
	t.Helper()
	f = startNodes(t, 3)
	must(t, redlock.Vouch(t.Context(), f.clients(), opts...))
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	lease = acquire(t, guardedLocker(t, f.through(proxy, 2), append(opts, f.named())...), "job", lock.TTL(longTTL),
		lock.NoRenew())
	return f, lease
}

// guardedLocker has every default of the guard.
func guardedLocker(t *testing.T, clients []redis.UniversalClient, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := redlock.New(clients, append([]lock.Option{lock.WithNodeTimeout(nodeTimeout)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func TestRealFlushed(t *testing.T) {
	t.Parallel()
	f, lease := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context())) // its connections exist now
	must(t, f.admin[1].FlushAll(t.Context()).Err())
	wantNoSecondLease(t, lease, other, driver.ErrQuarantined)
}

func TestRealReplicaAndBack(t *testing.T) {
	t.Parallel()
	f, lease := twoOfThree(t)
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	f.config("repl-diskless-sync-delay", "0", 2)
	follow := func(host, port string) { must(t, f.admin[1].SlaveOf(t.Context(), host, port).Err()) }
	follow("127.0.0.1", portOf(f, 2))
	eventually(t, settleTime, "the node has another's keys", func() bool { return len(f.keys("lock:job", 1)) == 0 })
	follow("NO", "ONE")
	wantNoSecondLease(t, lease, other, driver.ErrQuarantined)
}

// TestRealStaleSnapshot: a node restarts with the data of before the lock, including its marker.
func TestRealStaleSnapshot(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.vouchForAll()
	for i := range f.servers {
		must(t, f.admin[i].Save(t.Context()).Err())
	}
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	lease := acquire(t, guardedLocker(t, f.through(proxy, 2), f.named()), "job", lock.TTL(longTTL), lock.NoRenew())
	other := guardedLocker(t, f.clients())
	must(t, acquire(t, other, "warm-up").Release(t.Context()))
	f.kill(1)
	f.restart(1)
	if marker := f.admin[1].Get(t.Context(), guard.MarkerKey).Val(); marker == "" {
		t.Fatal("the snapshot was not loaded")
	}
	wantNoSecondLease(t, lease, other, driver.ErrQuarantined)
}

// TestRealMembersDiffer: a process uses five nodes instead of three, without a reconfiguration.
func TestRealMembersDiffer(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 5)
	three := &realNodes{t: t, servers: f.servers[:3], admin: f.admin[:3]}
	three.vouchForAll()
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	lease := acquire(t, guardedLocker(t, three.through(proxy, 2), three.named()), "job", lock.TTL(longTTL),
		lock.NoRenew())
	five := guardedLocker(t, f.clients())
	wantNoSecondLease(t, lease, five)
	_, err := refused(t, five, "job", redlock.ErrOtherConfiguration)
	wantText(t, err, "3 nodes, max TTL 1m0s", "5 nodes, max TTL 1m0s", "lockscope reconfigure")
}

// TestRealMaxTTLsDiffer: a process with another MaxTTL gets no vote. It would keep a restarted node silent for its own
// MaxTTL, while a longer lock may be valid.
func TestRealMaxTTLsDiffer(t *testing.T) {
	t.Parallel()
	f, lease := twoOfThree(t)
	short := guardedLocker(t, f.clients(), lock.WithMaxTTL(nodeTimeout*8), lock.WithDefaults(lock.TTL(nodeTimeout*4)))
	_, err := refused(t, short, "job", redlock.ErrOtherConfiguration, lock.ErrNoQuorum)
	wantText(t, err, "max TTL 1m0s", "max TTL 8s")
	if lease.Remaining() <= 0 {
		t.Error("the lease under test is over")
	}
	must(t, lease.Extend(t.Context()))
}

// TestRealQuarantineEndsByTwoClocks: the marker counts on the node's clock, and neither clock alone ends the
// quarantine.
func TestRealQuarantineEndsByTwoClocks(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	const quarantine = 1500 * time.Millisecond
	l := guardedLocker(t, f.clients(), redlock.WithRestartQuarantine(quarantine), lock.WithNodeTimeout(patience),
		lock.WithDefaults(lock.TTL(longTTL)))
	began := time.Now()
	_, _ = refused(t, l, "job", driver.ErrQuarantined)
	eventually(t, settleTime, "the nodes vote", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return err == nil && lease.Release(t.Context()) == nil
	})
	if early := quarantine - time.Since(began); early > 0 {
		t.Errorf("they voted %v early", early)
	}
}

// TestRealNodeThatForgotTakesNothingBack: a key that a renewal puts back counts from the next round on. A node that may
// have forgotten another holder's lock must not count, so it takes none back until its quarantine ends.
func TestRealNodeThatForgotTakesNothingBack(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 5)
	f.vouchForAll()
	l := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience))
	lease := acquire(t, l, "job", lock.TTL(longTTL), lock.NoRenew())
	eventually(t, settleTime, "all nodes have the lock", func() bool {
		return len(f.keys("lock:job",
			f.all()...)) == 5
	})
	must(t, f.admin[1].FlushAll(t.Context()).Err())
	must(t, f.admin[2].Del(t.Context(), "lock:job").Err()) // this node remembers all but the key
	for range 3 {
		must(t, lease.Extend(t.Context()))
	}
	eventually(t, settleTime, "the node that votes has it back", func() bool { return len(f.keys("lock:job", 2)) == 1 })
	if back := f.keys("lock:job", 1); len(back) > 0 {
		t.Errorf("a node that was emptied took it back: %v", back)
	}
	must(t, lease.Release(t.Context()))
}

// TestRealPromotedAgain: a replica refuses writes, and go-redis gives up each connection on which it does. None of
// these connections is used again: it would repeat that answer for good.
func TestRealPromotedAgain(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 2)
	l := guardedLocker(t, f.clients()[:1], lock.WithNodeTimeout(patience), lock.WithDefaults(lock.TTL(longTTL)))
	must(t, acquire(t, l, "warm-up").Release(t.Context()))
	must(t, f.admin[0].SlaveOf(t.Context(), "127.0.0.1", portOf(f, 1)).Err())
	for range 3 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, lock.ErrNoQuorum)
		if text := fmt.Sprint(err); strings.Contains(text, "bad state") || !strings.Contains(text, "replica") {
			t.Errorf("%.180s...", text)
		}
	}
	must(t, f.admin[0].SlaveOf(t.Context(), "NO", "ONE").Err())
	eventually(t, settleTime, "the node is examined again", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if err != nil {
			return false
		}
		must(t, lease.Release(t.Context()))
		return true
	})
}

// TestRealNameMovesToTheNewMaster: a name or a balancer leads to the new master, and the old one keeps its sockets, as a
// replica. The node is dialled again, although nothing fails on the connection: nothing is sent on it.
func TestRealNameMovesToTheNewMaster(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 2)
	must(t, f.admin[0].SlaveOf(t.Context(), "127.0.0.1", portOf(f, 1)).Err())
	name := proxyTo(t, f.servers[0])
	l := guardedLocker(t, f.through(name, 0)[:1], lock.WithNodeTimeout(patience), lock.WithDefaults(lock.TTL(longTTL)))
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrReplica)
	name.SetTarget(f.servers[1].Addr())
	eventually(t, settleTime, "the new master is asked", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if err != nil {
			return false
		}
		must(t, lease.Release(t.Context()))
		return true
	})
}
