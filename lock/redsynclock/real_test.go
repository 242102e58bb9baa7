package redsynclock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

// TestPlainRedsyncAndThisExcludeEachOther, on the same keys, in both directions and under load.
func TestPlainRedsyncAndThisExcludeEachOther(t *testing.T) {
	servers := locktest.Servers(t, 3)
	plain := redsync.New(pools(t, servers...)...)
	l := locker(t, servers)
	lease := acquire(t, l, "order:1001")
	var taken *redsync.ErrTaken
	if err := plain.NewMutex("order:1001").TryLock(); !errors.As(err, &taken) {
		t.Errorf("redsync: %v", err)
	}
	must(t, lease.Release(t.Context()))
	mutex := plain.NewMutex("order:1001", redsync.WithExpiry(time.Minute))
	must(t, mutex.Lock())
	_, err := l.Acquire(t.Context(), "order:1001", lock.NoWait())
	wantErr(t, err, lock.ErrHeld)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Instance != "" || held.Remaining <= 50*time.Second ||
		held.Remaining > time.Minute {
		t.Errorf("held by %+v", held)
	}
	if strings.Contains(err.Error(), mutex.Value()) {
		t.Errorf("it quotes the value: %v", err)
	}
	if ok, err := mutex.Unlock(); !ok {
		t.Error(err)
	}
	mixed(t, plain, l)
}

// mixed has redsync and a locker take turns, and finds two at a time.
func mixed(t *testing.T, plain *redsync.Redsync, l lock.Locker) {
	const each = 10
	inside := make(chan struct{}, 1)
	work := func() {
		select {
		case inside <- struct{}{}:
		default:
			t.Error("two at a time")
			return
		}
		time.Sleep(time.Millisecond)
		<-inside
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range each {
				m := plain.NewMutex("mixed", redsync.WithTries(1000))
				if err := m.Lock(); err != nil {
					t.Error(err)
					continue
				}
				work()
				if ok, err := m.Unlock(); !ok {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range each {
				err := lock.Do(t.Context(), l, "mixed", func(context.Context, lock.Lease) error { work(); return nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestOneOfThreePools is dead, or hangs: locks are had, renewed and given back, and it is named.
func TestOneOfThreePools(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*redisproc.Server) error{"dead": (*redisproc.Server).Kill,
		"hung": (*redisproc.Server).Pause} {
		for _, how := range []string{"New", "Wrap"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				servers := locktest.Servers(t, 3)
				var l *engine.Engine
				if how == "New" {
					l = locker(t, servers, lock.WithNodeNames("a", "b", "c"))
				} else {
					l = closing(t)(redsynclock.Wrap(redsync.New(pools(t, servers...)...),
						lock.WithNodeTimeout(nodeTimeout)))
				}
				must(t, fault(servers[1]))
				var mu sync.Mutex
				failed, seen := make(map[string]driver.Class), make(chan struct{})
				seenB := sync.OnceFunc(func() { close(seen) })
				ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
					mu.Lock()
					defer mu.Unlock()
					if e.Err != nil {
						failed[e.Node] = driver.ClassOf(e.Err)
					}
					if e.Err != nil && e.Node == "b" {
						seenB()
					}
				}})
				lease, err := l.Acquire(ctx, "job", lock.TTL(suiteTTL))
				must(t, err)
				must(t, lease.Extend(ctx))
				_, err = locker(t, servers).Acquire(ctx, "job", lock.NoWait())
				wantErr(t, err, lock.ErrHeld)
				must(t, lease.Release(ctx))
				if name == "hung" {
					must(t, servers[1].Resume())
				}
				must(t, acquire(t, l, "job", lock.TTL(suiteTTL)).Release(ctx))
				if how == "New" {
					<-seen // no caller waits for its answer
				}
				mu.Lock()
				defer mu.Unlock()
				if failed["a"] != "" || failed["c"] != "" {
					t.Errorf("failed: %v", failed)
				}
			})
		}
	}
}

// TestNoQuorumIsNamed: two of three are dead.
func TestNoQuorumIsNamed(t *testing.T) {
	servers := locktest.Servers(t, 3)
	l := locker(t, servers)
	lease := acquire(t, l, "job", lock.TTL(suiteTTL))
	must(t, servers[0].Kill())
	must(t, servers[2].Kill())
	_, err := l.Acquire(t.Context(), "other", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum)
	for _, name := range []string{"pool1", "pool3"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	<-lease.Context().Done()
	wantErr(t, context.Cause(lease.Context()), lock.ErrLost)
}

// TestFencedIsRefused, for there are no tokens, and nothing is left.
func TestFencedIsRefused(t *testing.T) {
	servers := locktest.Servers(t, 1)
	l := locker(t, servers)
	_, err := l.Acquire(t.Context(), "job", lock.Fenced())
	wantErr(t, err, lock.ErrInvalidOption)
	must(t, acquire(t, l, "job", lock.NoWait()).Release(t.Context()))
}

// TestWhatIsWrongIsSaid, with a class, the remedy, and no password.
func TestWhatIsWrongIsSaid(t *testing.T) {
	locked := locktest.Servers(t, 1, redisproc.WithArgs("--requirepass", "s3cr3t"))
	l := locker(t, locked)
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrDenied)
	if text := err.Error(); !strings.Contains(text, "password") || strings.Contains(text, "s3cr3t") {
		t.Error(text)
	}
}

// TestMutexes: code that calls redsync's methods keeps them, and what it looks for in errors.
func TestMutexes(t *testing.T) {
	servers := locktest.Servers(t, 1)
	rs := redsynclock.Over(locker(t, servers, lock.WithNodeTimeout(2*time.Second)))
	m := rs.NewMutex("order:1001", redsync.WithExpiry(20*time.Second), redsync.WithTries(2))
	if ok, err := m.Unlock(); ok || !errors.Is(err, redsync.ErrLockAlreadyExpired) {
		t.Errorf("Unlock before Lock: %v, %v", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	must(t, m.LockContext(ctx))
	cancel() // the context was for the wait
	if valid, _ := m.Valid(); !valid || m.Name() != "order:1001" || !m.Until().After(time.Now()) {
		t.Errorf("valid %v, until %v", valid, m.Until())
	}
	before := m.Until()
	if ok, err := m.Extend(); !ok || !m.Until().After(before) {
		t.Errorf("Extend: %v, until %v after %v", err, m.Until(), before)
	}
	other := rs.NewMutex("order:1001", redsync.WithTries(2))
	var taken *redsync.ErrTaken
	for _, try := range []func() error{other.Lock, other.TryLock,
		redsync.New(pools(t, servers...)...).NewMutex("order:1001").TryLock} {
		if err := try(); !errors.As(err, &taken) {
			t.Errorf("locked twice: %v", err)
		}
		if !slices.Equal(taken.Nodes, []int{0}) {
			t.Errorf("taken on %v", taken.Nodes)
		}
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	wantErr(t, rs.NewMutex("order:1001").LockContext(ctx), redsync.ErrFailed, context.Canceled)
	errLate := errors.New("late")
	ctx, cancel = context.WithDeadlineCause(t.Context(), time.Now(), errLate)
	defer cancel()
	err := rs.NewMutex("order:1001").LockContext(ctx)
	wantErr(t, err, redsync.ErrFailed, context.DeadlineExceeded, errLate)
	if errors.Is(err, context.Canceled) {
		t.Errorf("nobody has cancelled: %v", err)
	}
	if ok, err := m.Unlock(); !ok {
		t.Error(err)
	}
	must(t, other.Lock())
	if ok, err := other.Unlock(); !ok {
		t.Error(err)
	}
}

// TestTakenPoolsAreNamed as redsync numbers them.
func TestTakenPoolsAreNamed(t *testing.T) {
	servers := locktest.Servers(t, 3)
	plain := redsync.New(pools(t, servers[1:]...)...).NewMutex("job")
	must(t, plain.Lock())
	wrapped := closing(t)(redsynclock.Wrap(redsync.New(pools(t, servers...)...), lock.WithNodeTimeout(nodeTimeout)))
	for name, l := range map[string]lock.Locker{"New": locker(t, servers), "Wrap": wrapped} {
		var taken *redsync.ErrTaken
		err := redsynclock.Over(l).NewMutex("job").TryLock()
		if wantErr(t, err, redsync.ErrFailed); !errors.As(err, &taken) || !slices.Equal(taken.Nodes, []int{1, 2}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMutexExpires, for nothing renews it.
func TestMutexExpires(t *testing.T) {
	rs := redsynclock.Over(locker(t, locktest.Servers(t, 1), lock.WithNodeTimeout(500*time.Millisecond)))
	m := rs.NewMutex("job", redsync.WithExpiry(2*time.Second))
	must(t, m.Lock())
	next := rs.NewMutex("job")
	must(t, next.Lock())
	if ok, err := next.Unlock(); !ok {
		t.Error(err)
	}
	if ok, err := m.Extend(); ok || !errors.Is(err, redsync.ErrExtendFailed) {
		t.Errorf("Extend: %v, %v", ok, err)
	}
	if ok, err := m.Unlock(); ok || !errors.Is(err, redsync.ErrLockAlreadyExpired) {
		t.Errorf("Unlock: %v, %v", ok, err)
	}
}
