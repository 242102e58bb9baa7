package etcdlock_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	faultTimeout = 500 * time.Millisecond
	faultTTL     = 5 * time.Second
	waitTime     = 40 * time.Second
)

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(context.Background(), resource,
		append([]lock.AcquireOption{lock.TTL(faultTTL), lock.MaxWait(waitTime)}, opts...)...)
	must(t, err)
	return lease
}

func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("%v; want %v", err, target)
		}
	}
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTime); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", waitTime, what)
		}
	}
}

// stay is for how long somebody was sure to have the lock.
type stay struct {
	began, sure time.Time
	fence       uint64
}

// crowd are workers that take one lock in turn, whatever happens, until they are stopped.
type crowd struct {
	t    *testing.T
	end  context.CancelFunc
	all  sync.WaitGroup
	mu   sync.Mutex
	been []stay
	errs []error
}

// startCrowd has each locker worked with by two.
func startCrowd(t *testing.T, lockers []*engine.Engine) *crowd {
	ctx, end := context.WithCancel(context.Background())
	c := &crowd{t: t, end: end}
	t.Cleanup(func() {
		end()
		c.all.Wait()
	})
	for _, l := range lockers {
		for range 2 {
			c.all.Go(func() {
				for ctx.Err() == nil {
					c.work(ctx, l)
				}
			})
		}
	}
	return c
}

func (c *crowd) work(ctx context.Context, l lock.Locker) {
	lease, err := l.Acquire(ctx, "contended", lock.TTL(faultTTL))
	if err != nil {
		if !errors.Is(err, lock.ErrNoQuorum) && ctx.Err() == nil {
			c.t.Error(err)
		}
		c.mu.Lock()
		c.errs = append(c.errs, err)
		c.mu.Unlock()
		return
	}
	s := stay{began: time.Now(), fence: lease.Fence()}
	for range 5 {
		if now := time.Now(); lease.Remaining() > 0 {
			s.sure = now
		}
		time.Sleep(time.Millisecond)
	}
	c.mu.Lock()
	c.been = append(c.been, s)
	c.mu.Unlock()
	_ = lease.Release(context.WithoutCancel(ctx))
}

func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.been)
}

// goesOn waits until the lock was had so many more times.
func (c *crowd) goesOn(times int) {
	c.t.Helper()
	want := c.count() + times
	defer func() {
		if c.t.Failed() {
			c.t.Logf("%d more of %d times, and %v", c.count()-want+times, times, errors.Join(c.errs...))
		}
	}()
	eventually(c.t, "the workers go on", func() bool { return c.count() >= want })
}

// stop finds two at a time, and tokens that do not rise.
func (c *crowd) stop() {
	c.t.Helper()
	c.end()
	c.all.Wait()
	slices.SortFunc(c.been, func(x, y stay) int { return cmp.Compare(x.began.UnixNano(), y.began.UnixNano()) })
	for i := 1; i < len(c.been); i++ {
		last, next := c.been[i-1], c.been[i]
		if next.began.Before(last.sure) {
			c.t.Errorf("two at a time, for %v: fences %d and %d", last.sure.Sub(next.began), last.fence, next.fence)
		}
		if next.fence <= last.fence {
			c.t.Errorf("fence %d after %d", next.fence, last.fence)
		}
	}
	c.t.Logf("%d times in turn", len(c.been))
}

// three is a cluster of three members, with as many processes.
func three(t *testing.T) (*etcdproc.Cluster, []*engine.Engine) {
	c := cluster(t, 3)
	var lockers []*engine.Engine
	for range 3 {
		lockers = append(lockers, locker(t, c, lock.WithNodeTimeout(faultTimeout)))
	}
	return c, lockers
}

func leader(t testing.TB, c *etcdproc.Cluster) *etcdproc.Member {
	t.Helper()
	var m *etcdproc.Member
	eventually(t, "a member leads", func() (ok bool) {
		var err error
		m, err = c.Leader(context.Background())
		return err == nil
	})
	return m
}

func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	c, lockers := three(t)
	workers := startCrowd(t, lockers)
	for range 2 {
		workers.goesOn(20)
		m := leader(t, c)
		must(t, m.Kill())
		workers.goesOn(20)
		must(t, m.Start())
		must(t, c.Await(t.Context()))
	}
	workers.stop()
}

func TestMemberStopped(t *testing.T) {
	t.Parallel()
	c, lockers := three(t)
	workers := startCrowd(t, lockers)
	workers.goesOn(20)
	lead := leader(t, c)
	for _, m := range c.Members {
		if m != lead {
			must(t, m.Pause())
			workers.goesOn(10)
			must(t, m.Resume())
		}
	}
	workers.goesOn(20)
	workers.stop()
}

// TestLeaderStandsStill for longer than the leases it knows live, and comes back to revoke
// them. Of a lease that is renewed meanwhile it knows nothing: nobody else gets the lock. On
// a machine that is too busy for another to lead in time the lease ends by itself; that is
// tried again.
func TestLeaderStandsStill(t *testing.T) {
	t.Parallel()
	c, lockers := three(t)
	var revoked atomic.Pointer[locktrace.RenewEnd] // before it was over: the key of a lease lives longer than that
	told := locktrace.With(context.Background(), &locktrace.Trace{RenewEnd: func(_ context.Context, e locktrace.RenewEnd) {
		if e.Refused > 0 && e.Took < e.Remaining {
			revoked.Store(&e)
		}
	}})
	hold := func() lock.Lease {
		t.Helper()
		lease, err := lockers[0].Acquire(told, "held", lock.TTL(8*time.Second), lock.MaxWait(waitTime))
		must(t, err)
		return lease
	}
	held, workers := hold(), startCrowd(t, lockers)
	for lived, tries := 0, 0; lived < 2; tries++ {
		if tries == 6 {
			t.Fatalf("in %d of %d tries no other member led while the lease lived", tries-lived, tries)
		}
		workers.goesOn(20)
		m := leader(t, c)
		must(t, m.Pause())
		stopped := time.Now()
		eventually(t, "another member leads", func() bool {
			next, err := c.Leader(t.Context())
			return err == nil && next != m
		})
		eventually(t, "the leases that the leader knows are over",
			func() bool { return time.Since(stopped) > 11*time.Second })
		must(t, m.Resume())
		workers.goesOn(20)
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end) &&
			held.Context().Err() == nil; time.Sleep(20 * time.Millisecond) {
			lease, err := lockers[1].Acquire(t.Context(), "held", lock.NoWait(), lock.TTL(faultTTL))
			if left := held.Remaining(); err == nil && left > 0 {
				t.Fatalf("granted with fence %d while another had it for %v more", lease.Fence(), left)
			} else if err == nil {
				must(t, lease.Release(t.Context()))
			}
		}
		if e := revoked.Load(); e != nil {
			t.Fatalf("the lease was taken from its holder %v before its end: %v", e.Remaining-e.Took, e.Err)
		}
		if held.Context().Err() == nil {
			lived++
			continue
		}
		wantErr(t, context.Cause(held.Context()), lock.ErrLost)
		held = hold()
	}
	workers.stop()
	must(t, held.Release(t.Context()))
}
