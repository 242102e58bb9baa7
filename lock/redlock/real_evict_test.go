package redlock_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// steppedClock is a clock for an engine that a test advances.
type steppedClock struct {
	began time.Time
	ahead atomic.Int64
}

func newSteppedClock() *steppedClock { return &steppedClock{began: time.Now()} }
func (c *steppedClock) now() time.Duration {
	return time.Since(c.began) + time.Duration(c.ahead.Load())
}
func (c *steppedClock) step(d time.Duration) { c.ahead.Add(int64(d)) }

// evict makes nodes drop the lock of a resource. An operator sets a policy that evicts and a small limit while clients
// stay connected, and other clients write until the key is gone.
func (f *realNodes) evict(resource string, nodes ...int) {
	f.t.Helper()
	f.config("maxmemory-policy", "volatile-ttl", nodes...)
	for _, i := range nodes {
		must(f.t, f.admin[i].ConfigSet(f.t.Context(), "maxmemory", "3mb").Err())
		filler := strings.Repeat("x", 64<<10)
		for n := 0; len(f.keys("lock:"+resource, i)) > 0; n++ {
			if n > 10_000 {
				f.t.Fatalf("node %d does not evict", i)
			}
			_ = f.admin[i].Set(f.t.Context(), fmt.Sprint("cache:", n), filler, longTTL*60).Err()
		}
	}
}

// mend restores the policy and the limit.
func (f *realNodes) mend(nodes ...int) {
	f.t.Helper()
	f.config("maxmemory-policy", "noeviction", nodes...)
	f.config("maxmemory", "0", nodes...)
}

// TestRealPolicyChangedWhileConnected evicts the lock on two of three nodes whose connections stay open. If the policy
// is mended before any probe, the count of evicted keys still reveals the eviction, also to later processes.
func TestRealPolicyChangedWhileConnected(t *testing.T) {
	t.Parallel()
	for name, mended := range map[string]bool{"it evicts": false, "it is mended before any probe": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 3)
			f.vouchForAll()
			clock := newSteppedClock()
			other := guardedLocker(t, f.clients(), engine.WithClock(clock.now))
			must(t, acquire(t, other, "warm-up", lock.TTL(longTTL)).Release(t.Context()))
			lease := acquire(t, guardedLocker(t, f.clients()), "job", lock.TTL(longTTL), lock.NoRenew())
			eventually(t, settleTime, "all three hold it", func() bool {
				return len(f.keys("lock:job",
					f.all()...)) == 3
			})

			f.evict("job", 0, 1)
			why := driver.ErrEvicting
			if mended {
				f.mend(0, 1)
				why = driver.ErrQuarantined
			}
			clock.step(2 * time.Second) // knowledge about a node is at most a second old
			wantNoSecondLease(t, lease, other, why)
			wantNoSecondLease(t, lease, guardedLocker(t, f.clients()), why)
			_, err := refused(t, other, "free", why)
			wantText(t, err, f.servers[0].Addr(), f.servers[1].Addr())
			if lease.Context().Err() != nil {
				t.Fatal("the lease under test is over")
			}
			if !mended {
				wantText(t, err, "volatile-ttl", "WithEvictingNodes")
				return
			}
			wantText(t, err, "evicted")
		})
	}
}

// TestRealEvictedWhileQuarantined: a quarantine does not end while the node still drops keys.
func TestRealEvictedWhileQuarantined(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	l := newLocker(t, f.clients(), redlock.WithRestartQuarantine(longTTL), lock.WithNodeTimeout(patience),
		lock.WithDefaults(lock.TTL(longTTL)))
	_, _ = refused(t, l, "job", driver.ErrQuarantined)
	first := f.admin[0].Get(t.Context(), guard.MarkerKey).Val()
	must(t, f.admin[0].Set(t.Context(), "lock:old", "x", longTTL).Err())
	f.evict("old", 0)
	f.mend(0)
	eventually(t, settleTime, "the quarantine begins anew", func() bool {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, driver.ErrQuarantined)
		return f.admin[0].Get(t.Context(), guard.MarkerKey).Val() != first && !errors.Is(err, driver.ErrEvicting)
	})
}

// TestRealOneNodeEvicts: a single node keeps its vote, and a caller that asked for reports gets one.
func TestRealOneNodeEvicts(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	clock := newSteppedClock()
	l := newLocker(t, f.clients(), engine.WithClock(clock.now))
	must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
	must(t, f.admin[0].Set(t.Context(), "lock:old", "x", longTTL).Err())
	f.evict("old", 0)
	clock.step(2 * time.Second)
	_, _ = refused(t, l, "job", driver.ErrEvicting)
}
