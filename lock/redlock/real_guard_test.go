package redlock_test

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealQuarantine: one node forgets a lock by a restart without its data. With a third node that never saw the lock,
// a second holder would be possible. The control, without quarantine, shows that it is.
func TestRealQuarantine(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.vouchForAll()
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	const quarantine = 6 * time.Second
	options := []lock.Option{redlock.WithRestartQuarantine(quarantine), f.named()}
	holder := acquire(t, newLocker(t, f.through(proxy, 2), options...), "job", lock.TTL(longTTL), lock.NoRenew())
	old := f.locker(options...) // it has seen the node before its restart
	must(t, acquire(t, old, "warm-up", lock.TTL(longTTL)).Release(t.Context()))
	f.kill(1)
	f.wipe(1)
	restarted := time.Now()
	f.restart(1)

	fresh := f.locker(options...)
	for name, l := range map[string]*engine.Engine{"old": old, "new": fresh} {
		var err error
		eventually(t, settleTime, "the restarted node answers in time", func() bool {
			// Grants of the attempt before are undone, if need be after it has returned.
			eventually(t, settleTime, "the third node is free", func() bool { return len(f.keys("lock:job", 2)) == 0 })
			began := time.Now()
			_, err = l.Acquire(t.Context(), "job", lock.NoWait())
			wantWithin(t, name+" locker's acquire", time.Since(began), soon)
			return !errors.Is(err, driver.ErrTimeout)
		})
		wantErr(t, err, driver.ErrQuarantined, lock.ErrHeld)
		wantText(t, err, f.servers[1].Addr()+" acquire", "may not vote yet")
	}
	if holder.Context().Err() != nil {
		t.Fatal("the lease under test is over")
	}
	control := acquire(t, f.locker(redlock.WithRestartQuarantine(0)), "job", lock.TTL(longTTL))
	if holder.Context().Err() != nil {
		t.Fatal("the lease under test was over before the control")
	}
	must(t, control.Release(t.Context()))
	// There were two holders, and still the fence increases, although a counter was lost.
	if control.Fence() <= holder.Fence() {
		t.Errorf("fence %d after %d", control.Fence(), holder.Fence())
	}
	must(t, holder.Release(t.Context()))
	f.pause(0) // now it needs the vote of the restarted node
	took, _ := refused(t, fresh, "other", driver.ErrQuarantined)
	wantWithin(t, "acquire", took, soon)
	eventually(t, 2*quarantine, "the node votes again", func() bool {
		lease, err := fresh.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		if err == nil {
			must(t, lease.Release(t.Context()))
		}
		return err == nil
	})
	if early := quarantine - time.Since(restarted); early > 0 {
		t.Errorf("the node voted %v before its quarantine was over", early)
	}
}

// vouchForAll makes freshly started nodes vote. After a restart that is no longer possible.
func (f *realNodes) vouchForAll() {
	f.t.Helper()
	must(f.t, redlock.Vouch(f.t.Context(), f.clients()))
}

// TestRealDurabilityWaivesNothing: appendfsync always does not prove what the disk held before. A node with a replaced
// disk has that setting, too, and its vote would permit a second lease.
func TestRealDurabilityWaivesNothing(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3, appendOnly())
	f.vouchForAll()
	proxy := proxyTo(t, f.servers[2])
	proxy.Refuse(true)
	guarded := redlock.WithRestartQuarantine(time.Minute)
	holder := acquire(t, newLocker(t, f.through(proxy, 2), guarded, f.named()), "job", lock.TTL(longTTL),
		lock.NoRenew())
	f.kill(1)
	f.wipe(1)
	f.restart(1)
	other := f.locker(guarded)
	var second lock.Lease
	var err error
	eventually(t, settleTime, "the restarted node answers in time", func() bool {
		second, err = other.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return !errors.Is(err, driver.ErrTimeout)
	})
	if err == nil {
		t.Errorf("a second lease, with %v left of the first", holder.Remaining())
		must(t, second.Release(t.Context()))
	}
	wantErr(t, err, driver.ErrQuarantined, lock.ErrHeld)
	must(t, holder.Release(t.Context()))
}

// TestRealQuarantineLastsItsTime: Redis computes uptime_in_seconds from two rounded instants, so a server that starts
// just before a full second counts almost a second too many. The guard must not trust it.
func TestRealQuarantineLastsItsTime(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	const quarantine = 1200 * time.Millisecond
	f.kill(0)
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1930 * time.Millisecond)))
	began := time.Now()
	f.restart(0)
	// With the option, a single node stays silent, too.
	l := newLocker(t, f.clients(), redlock.WithRestartQuarantine(quarantine), lock.WithNodeTimeout(patience),
		lock.WithDefaults(lock.TTL(longTTL)))
	_, _ = refused(t, l, "job", driver.ErrQuarantined)
	var voted time.Duration
	eventually(t, settleTime, "the node votes", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		voted = time.Since(began)
		return err == nil && lease.Release(t.Context()) == nil
	})
	if voted < quarantine {
		t.Errorf("it voted %v after its start, %v before its quarantine was over", voted, quarantine-voted)
	}
}

func TestRealEvictingNode(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.config("maxmemory-policy", "allkeys-lru", 1)
	must(t, acquire(t, f.locker(), "job").Release(t.Context())) // without a limit the policy evicts nothing
	f.config("maxmemory", "100mb", f.all()...)
	f.config("maxmemory-policy", "allkeys-lru", f.all()...)
	began := time.Now()
	_, err := f.locker().Acquire(t.Context(), "job", lock.MaxWait(settleTime))
	wantWithin(t, "acquire", time.Since(began), soon)
	wantErr(t, err, driver.ErrEvicting, lock.ErrNoQuorum)
	wantText(t, err, "allkeys-lru", "WithEvictingNodes")
	named := 0
	for _, s := range f.servers {
		if err != nil && containsText(err, s.Addr()+": not asked: "+driver.ErrEvicting.Error()) {
			named++
		}
	}
	if named < 2 {
		t.Errorf("%d nodes named, want a majority: %v", named, err)
	}
	must(t, acquire(t, f.locker(redlock.WithEvictingNodes()), "job").Release(t.Context()))
	// Once the operator has mended it, the same locker works again.
	l := f.locker()
	_, _ = refused(t, l, "job", driver.ErrEvicting)
	f.config("maxmemory-policy", "noeviction", f.all()...)
	eventually(t, settleTime, "the nodes are examined again", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		return err == nil && lease.Release(t.Context()) == nil
	})
}

// TestRealFenceCounter: a counter that is at its end, or is no number, would grant the same token again and again.
// Callers are refused at once, and the error names the node and the key.
func TestRealFenceCounter(t *testing.T) {
	t.Parallel()
	for name, counter := range map[string]string{"at its end": "9007199254740992", "no number": "tampered"} {
		t.Run(name, func(t *testing.T) {
			f := startNodes(t, 3)
			l := f.locker()
			must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
			var fences []string
			eventually(t, settleTime, "the first node has voted, too", func() bool { // the quorum did not need this node
				fences = f.admin[0].Keys(t.Context(), "lockscope:fence:*").Val()
				return len(fences) > 0
			})
			set := func(value string, nodes ...int) {
				for _, i := range nodes {
					must(t, f.admin[i].Set(t.Context(), fences[0], value, 0).Err())
				}
			}
			set(counter, 0)
			must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context())) // two others agree
			set(counter, 1)
			began := time.Now()
			_, err := l.Acquire(t.Context(), "job", lock.MaxWait(waitTime))
			wantWithin(t, "being refused", time.Since(began), settleTime)
			wantErr(t, err, driver.ErrFenceCounter, lock.ErrNoQuorum)
			wantText(t, err, "lock: job: no quorum", f.servers[1].Addr(), fences[0], "2^53")
			f.wantNoLocks()
			must(t, f.admin[0].Del(t.Context(), fences[0]).Err())
			must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
		})
	}
}

// TestRealDuplicateNode names one server twice, which would give it two votes.
func TestRealDuplicateNode(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 2)
	proxy := proxyTo(t, f.servers[0])
	for name, addr := range map[string]string{
		"localhost": net.JoinHostPort("localhost", strconv.Itoa(f.servers[0].Port())),
		"proxy":     proxy.Addr(),
	} {
		t.Run(name, func(t *testing.T) {
			clients := append(f.clients(), plainClient(t, &redis.Options{Addr: addr}))
			l := newLocker(t, clients)
			f.pause(1) // otherwise the two honest servers would be a quorum
			var err error
			// on a busy machine there may be no answer in time
			eventually(t, settleTime, "the duplicate is found", func() bool {
				began := time.Now()
				_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
				wantWithin(t, "acquire", time.Since(began), soon)
				wantErr(t, err, lock.ErrNoQuorum)
				return errors.Is(err, driver.ErrDuplicate)
			})
			f.resume(1)
			wantText(t, err, addr, f.servers[0].Addr())
			f.wantNoLocks()
		})
	}
	same := append(f.clients(), plainClient(t, &redis.Options{Addr: f.servers[0].Addr()}))
	_, err := redlock.New(same)
	wantErr(t, err, driver.ErrDuplicate, lock.ErrInvalidNode)
	for i := range 3 { // also on the very first vote
		_, err := newLocker(t, []redis.UniversalClient{
			plainClient(t, &redis.Options{Addr: f.servers[0].Addr()}),
			plainClient(t, &redis.Options{Addr: proxy.Addr()}),
		}, lock.WithNodeTimeout(patience)).Acquire(t.Context(), fmt.Sprint("first", i), lock.NoWait(),
			lock.TTL(longTTL))
		wantErr(t, err, driver.ErrDuplicate)
	}
	f.wantNoLocks()
}
