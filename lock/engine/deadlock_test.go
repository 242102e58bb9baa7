package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestHolding(t *testing.T) {
	l := openMemory(t)
	outer := mustAcquire(t, t.Context(), l, "a")
	inner := mustAcquire(t, outer.Context(), l, "b")
	got := lock.HeldLeases(inner.Context())
	keyspace := got[0].Keyspace
	want := []lock.HeldLease{
		{Resource: "b", Fence: inner.Fence(), Backend: "memory", Keyspace: keyspace},
		{Resource: "a", Fence: outer.Fence(), Backend: "memory", Keyspace: keyspace},
	}
	if keyspace == "" || !slices.Equal(got, want) {
		t.Errorf("HeldLeases = %v, want %v", got, want)
	}
	var started []lock.HeldLease
	ctx := locktrace.With(inner.Context(), &locktrace.Trace{
		AcquireStart: func(ctx context.Context, e locktrace.AcquireStart) context.Context {
			started = e.Holds
			return ctx
		},
	})
	mustAcquire(t, ctx, l, "c")
	if !slices.Equal(started, want) {
		t.Errorf("AcquireStart.Holds = %v, want %v", started, want)
	}
	if err := outer.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Its context has ended, and so have the contexts that descend from it.
	if got := lock.HeldLeases(context.WithoutCancel(inner.Context())); len(got) != 1 || got[0].Resource != "b" {
		t.Errorf("HeldLeases = %v after the outer lease was released, want b alone", got)
	}
	if got := lock.HeldLeases(t.Context()); got != nil {
		t.Errorf("HeldLeases = %v of a context without a lease", got)
	}
}

// deadlocks collects the deadlocks that a trace reports.
type deadlocks struct {
	mu  sync.Mutex
	all []lock.DeadlockError
	do  func() // run at the next report
}

func (d *deadlocks) then(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.do = do
}

func (d *deadlocks) in(ctx context.Context) context.Context {
	return locktrace.With(ctx, &locktrace.Trace{Deadlock: func(_ context.Context, e lock.DeadlockError) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all = append(d.all, e)
		if d.do != nil {
			d.do()
		}
	}})
}

func (d *deadlocks) seen() []lock.DeadlockError {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

// TestDeadlock builds a ring of one to four calls, each waiting for a lock of the next. All of them ask to fail; one
// does, and the others go on.
func TestDeadlock(t *testing.T) {
	for n := 1; n <= 4; n++ {
		l := openMemory(t)
		var seen deadlocks
		ctx := seen.in(t.Context())
		leases := make([]lock.Lease, n)
		for i := range n {
			leases[i] = mustAcquire(t, ctx, l, string(rune('a'+i)))
		}
		errs := make(chan error, n)
		for i := range n {
			go func() {
				next, err := l.Acquire(leases[i].Context(), string(rune('a'+(i+1)%n)), lock.FailOnDeadlock())
				if err == nil {
					err = next.Release(t.Context())
				}
				errs <- errors.Join(err, leases[i].Release(t.Context()))
			}()
		}
		failed := 0
		for range n {
			err := <-errs
			if err == nil {
				continue
			}
			failed++
			var found *lock.DeadlockError
			if !errors.As(err, &found) || !errors.Is(err, lock.ErrDeadlock) || len(found.Cycle) != n {
				t.Errorf("%d calls: %v", n, err)
			}
			if got := lock.ReasonOf(err); got != lock.ReasonDeadlock {
				t.Errorf("reason %q", got)
			}
			t.Log(err)
		}
		// If several calls close the ring in the same instant, each of them may find it.
		if failed == 0 || len(seen.seen()) == 0 {
			t.Errorf("%d calls: %d failed, traces were told %v", n, failed, seen.seen())
		}
	}
}

// TestDeadlockIsTold when no caller asked to fail: the traces report it once, and the calls go on waiting.
func TestDeadlockIsTold(t *testing.T) {
	l, other := openMemory(t), openMemory(t) // a cycle may pass through several engines
	var seen deadlocks
	ctx := seen.in(t.Context())
	a, b := mustAcquire(t, ctx, l, "a"), mustAcquire(t, ctx, other, "b")
	first := make(chan error, 1)
	waiting := make(chan struct{})
	go func() {
		ctx := locktrace.With(a.Context(), &locktrace.Trace{WaitStart: func(ctx context.Context,
			_ locktrace.WaitStart) context.Context {
			select {
			case <-waiting:
			default:
				close(waiting)
			}
			return ctx
		}})
		_, err := other.Acquire(ctx, "b", lock.MaxWait(time.Minute))
		first <- err
	}()
	<-waiting
	second, giveUp := context.WithCancel(b.Context())
	time.AfterFunc(time.Minute, giveUp) // so that a failing test ends
	seen.then(giveUp)
	_, err := l.Acquire(second, "a")
	if !errors.Is(err, context.Canceled) || errors.Is(err, lock.ErrDeadlock) {
		t.Errorf("the call that did not ask: %v", err)
	}
	want := slices.Concat(lock.HeldLeases(b.Context()), lock.HeldLeases(a.Context()))
	if all := seen.seen(); len(all) != 1 || !slices.Equal(all[0].Cycle, want) {
		t.Errorf("told %v, want the cycle %v once", all, want)
	}
	if err := b.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestNoDeadlock: a chain is no deadlock, nor is a cycle that ends before it counts.
func TestNoDeadlock(t *testing.T) { synctest.Test(t, testNoDeadlock) }

func testNoDeadlock(t *testing.T) {
	l := openMemory(t)
	var seen deadlocks
	ctx := seen.in(t.Context())
	a, b := mustAcquire(t, ctx, l, "a"), mustAcquire(t, ctx, l, "b")
	short, end := context.WithTimeout(a.Context(), 20*time.Millisecond)
	defer end()
	done := make(chan error, 1)
	go func() {
		_, err := l.Acquire(short, "b")
		done <- err
	}()
	_, err := l.Acquire(b.Context(), "a", lock.FailOnDeadlock(), lock.MaxWait(200*time.Millisecond))
	if !errors.Is(err, lock.ErrMaxWait) {
		t.Errorf("behind a call that gave up: %v", err)
	}
	if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err = l.Acquire(mustAcquire(t, ctx, l, "c").Context(), "a", lock.FailOnDeadlock(),
		lock.MaxWait(100*time.Millisecond)); !errors.Is(err, lock.ErrMaxWait) {
		t.Errorf("a chain: %v", err)
	}
	if all := seen.seen(); all != nil {
		t.Errorf("told %v", all)
	}
}

func openMemory(t *testing.T) *memlock.Locker {
	t.Helper()
	return openMemoryOn(t, memlock.NewNodes(3))
}

func openMemoryOn(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func mustAcquire(t *testing.T, ctx context.Context, l lock.Locker, resource string,
	opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(ctx, resource, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// TestNoDeadlockThroughASemaphore: the holder of another slot can end the wait for one, so a cycle through it is no
// deadlock. With one slot it is.
func TestNoDeadlockThroughASemaphore(t *testing.T) {
	for slots, want := range []int{1: 1, 2: 0} {
		if slots == 0 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			l, err := memlock.New(memlock.NewNodes(1))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			var seen deadlocks
			lease := mustAcquire(t, seen.in(t.Context()), l, "pool", lock.Slots(slots))
			for range slots - 1 {
				mustAcquire(t, t.Context(), l, "pool", lock.Slots(slots))
			}
			_, err = l.Acquire(lease.Context(), "pool", lock.MaxWait(time.Second), lock.Slots(slots))
			if !errors.Is(err, lock.ErrMaxWait) || len(seen.seen()) != want {
				t.Errorf("%d slots: %d deadlocks, %v", slots, len(seen.seen()), err)
			}
		})
	}
}
