package redlock_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// startSentinel starts a master, its replica, and a sentinel that watches them.
func startSentinel(t *testing.T) (*realNodes, *redisproc.Sentinel) {
	t.Helper()
	f := startNodes(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), f.servers[0], f.servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	return f, sentinel
}

func failoverClient(t *testing.T, sentinels ...*redisproc.Sentinel) *redis.Client {
	opt := &redis.FailoverOptions{
		MasterName: redisproc.MasterName, DialTimeout: time.Second, MaxRetries: -1,
		ReadTimeout: 5 * nodeTimeout, // of a sentinel; longer than connecting to a node may take
	}
	for _, s := range sentinels {
		opt.SentinelAddrs = append(opt.SentinelAddrs, s.Addr())
	}
	c := redis.NewFailoverClient(opt)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// TestRealSentinelFailover has a master and its replica as its only node, found through a sentinel.
func TestRealSentinelFailover(t *testing.T) {
	t.Parallel()
	f, sentinel := startSentinel(t)
	l := newLocker(t, []redis.UniversalClient{failoverClient(t, sentinel)})

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
	var err error
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

// TestRealSentinelSwitchesMaster: the sentinel names another master. The former one, which it cannot reach, still
// answers old connections. We must not use them: no other client sees a lock that is taken there.
func TestRealSentinelSwitchesMaster(t *testing.T) {
	t.Parallel()
	f, sentinel := startSentinel(t)
	l := newLocker(t, []redis.UniversalClient{failoverClient(t, sentinel)})
	before, err := l.Acquire(t.Context(), "before", lock.TTL(longTTL), lock.NoRenew())
	must(t, err)

	f.nameAnotherMaster(sentinel)
	f.eventuallyOnNewMaster(l)
	eventually(t, settleTime, "the lease of before is lost",
		func() bool { return errors.Is(before.Extend(t.Context()), lock.ErrLost) })
}

// nameAnotherMaster makes the sentinel name the second server, and leaves the first one alone. Our connections see the
// same in a partition between the first server and the sentinels.
func (f *realNodes) nameAnotherMaster(sentinel *redisproc.Sentinel) {
	t := f.t
	t.Helper()
	must(t, f.admin[1].SlaveOf(t.Context(), "NO", "ONE").Err())
	must(t, f.admin[1].FlushAll(t.Context()).Err()) // drop what was replicated in time
	watcher := redis.NewSentinelClient(&redis.Options{Addr: sentinel.Addr()})
	defer watcher.Close()
	must(t, watcher.Remove(t.Context(), redisproc.MasterName).Err())
	must(t, watcher.Monitor(t.Context(), redisproc.MasterName, "127.0.0.1", strconv.Itoa(f.servers[1].Port()),
		"1").Err())
}

func (f *realNodes) eventuallyOnNewMaster(l lock.Locker) {
	t := f.t
	t.Helper()
	eventually(t, 4*settleTime, "what is locked is on the new master", func() bool {
		after := acquire(t, l, "after", lock.TTL(longTTL))
		if len(f.keys("lock:after", 1)) == 0 {
			_ = after.Release(t.Context()) // the new master may get this request; it does not know the lease
			return false
		}
		must(t, after.Release(t.Context()))
		return true
	})
}

// TestRealSentinelHangs: of two sentinels, the one in use hangs, and the other one names a new master.
func TestRealSentinelHangs(t *testing.T) {
	t.Parallel()
	f, asked := startSentinel(t)
	other, err := redisproc.StartSentinel(t.Context(), f.servers[0], f.servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, other.Stop()) })

	must(t, other.Pause())
	l := newLocker(t, []redis.UniversalClient{failoverClient(t, asked, other)})
	must(t, acquire(t, l, "before", lock.TTL(longTTL)).Release(t.Context()))
	must(t, asked.Pause())
	must(t, other.Resume())
	f.nameAnotherMaster(other)
	f.eventuallyOnNewMaster(l)
}

// TestRealSentinelsHang: locks keep using the known master while no sentinel answers.
func TestRealSentinelsHang(t *testing.T) {
	t.Parallel()
	_, sentinel := startSentinel(t)
	l := newLocker(t, []redis.UniversalClient{failoverClient(t, sentinel)})
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, sentinel.Pause())
	defer func() { must(t, sentinel.Resume()) }()
	for end := time.Now().Add(3 * askAgain); time.Now().Before(end); {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		must(t, err)
		must(t, lease.Release(t.Context()))
	}
}

// askAgain is a little longer than an answer of the sentinels is trusted.
const askAgain = 1100 * time.Millisecond

// TestRealSentinelOneMasterIsOneNode: three clients of one master, which go-redis gives the same name, are no quorum.
func TestRealSentinelOneMasterIsOneNode(t *testing.T) {
	t.Parallel()
	f, sentinel := startSentinel(t)
	var clients []redis.UniversalClient
	for range 3 {
		clients = append(clients, failoverClient(t, sentinel))
	}
	_, err := redlock.New(clients)
	wantErr(t, err, lock.ErrInvalidNode, driver.ErrDuplicate)
	wantText(t, err, "FailoverClient", "WithNodeNames")
	_, err = redlock.New(clients, lock.WithNodeNames("a", "b", "a"))
	wantErr(t, err, lock.ErrInvalidNode, driver.ErrDuplicate)
	_, err = newLocker(t, clients, lock.WithNodeNames("a", "b", "c"), lock.WithNodeTimeout(patience)).
		Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrDuplicate)
	f.wantNoLocks(0)
}
