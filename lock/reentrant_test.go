package lock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// countingLocker hands out one lease at a time and counts what reaches it.
type countingLocker struct {
	acquired, released int
	passed             time.Duration // of the second that each lease is valid for
}

type countedLease struct {
	l      *countingLocker
	name   string
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (l *countingLocker) Acquire(ctx context.Context, resource string, _ ...AcquireOption) (Lease, error) {
	l.acquired++
	ctx, cancel := context.WithCancelCause(ctx)
	return &countedLease{l, resource, ctx, cancel}, nil
}

func (c *countedLease) Resource() string             { return c.name }
func (c *countedLease) Context() context.Context     { return c.ctx }
func (c *countedLease) Fence() uint64                { return uint64(c.l.acquired) }
func (c *countedLease) Remaining() time.Duration     { return time.Second - c.l.passed }
func (c *countedLease) Extend(context.Context) error { return nil }
func (c *countedLease) Release(context.Context) error {
	c.l.released++
	c.cancel(ErrReleased)
	return nil
}

func mustAcquire(t *testing.T, l Locker, ctx context.Context, resource string) Lease {
	t.Helper()
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestReentrantCounts(t *testing.T) {
	next := &countingLocker{}
	l := Reentrant(next)
	outer := mustAcquire(t, l, t.Context(), "a")
	inner := mustAcquire(t, l, outer.Context(), "a")
	innermost := mustAcquire(t, l, inner.Context(), "a")
	if next.acquired != 1 || innermost.Fence() != outer.Fence() {
		t.Fatalf("acquired %d times, fences %d and %d", next.acquired, outer.Fence(), innermost.Fence())
	}
	for _, lease := range []Lease{innermost, inner} {
		for range 2 { // a second release of one handle counts once
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if !errors.Is(context.Cause(lease.Context()), ErrReleased) {
			t.Error("a released handle's context goes on")
		}
	}
	if next.released != 0 || outer.Context().Err() != nil {
		t.Fatal("released while a handle was left")
	}
	_ = outer.Release(t.Context())
	if next.released != 1 {
		t.Fatalf("released %d times", next.released)
	}
}

func TestReentrantEntersOnlyTheSameResourceLockerAndLiveLease(t *testing.T) {
	next := &countingLocker{}
	l, other := Reentrant(next), Reentrant(next)
	a := mustAcquire(t, l, t.Context(), "a")
	mustAcquire(t, l, a.Context(), "b")
	mustAcquire(t, other, a.Context(), "a")
	mustAcquire(t, l, t.Context(), "a")
	if next.acquired != 4 {
		t.Errorf("acquired %d times, want 4", next.acquired)
	}
	ctx := a.Context()
	_ = a.Release(t.Context())
	mustAcquire(t, l, context.WithoutCancel(ctx), "a")
	if next.acquired != 5 {
		t.Errorf("a lease that is over was entered again")
	}
}

func TestReentrantPassesLossOn(t *testing.T) {
	l := Reentrant(&countingLocker{})
	outer := mustAcquire(t, l, t.Context(), "a")
	inner := mustAcquire(t, l, outer.Context(), "a")
	outer.(*handle).Lease.(*countedLease).cancel(ErrLost)
	if !errors.Is(context.Cause(inner.Context()), ErrLost) {
		t.Errorf("cause is %v", context.Cause(inner.Context()))
	}
}

// TestReentrantHandleEndsWithItsLease, whatever its context descends from.
func TestReentrantHandleEndsWithItsLease(t *testing.T) {
	for name, enter := range map[string]func(ctx context.Context, l Locker) (Lease, error){
		"detached": func(ctx context.Context, l Locker) (Lease, error) { return AcquireDetached(ctx, l, "a") },
		"without cancel": func(ctx context.Context, l Locker) (Lease, error) {
			return l.Acquire(context.WithoutCancel(ctx), "a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next := &countingLocker{}
				l := Reentrant(next)
				outer := mustAcquire(t, l, t.Context(), "a")
				inner, err := enter(outer.Context(), l)
				if err != nil || next.acquired != 1 {
					t.Fatalf("acquired %d times: %v", next.acquired, err)
				}
				outer.(*handle).Lease.(*countedLease).cancel(ErrLost)
				synctest.Wait()
				if cause := context.Cause(inner.Context()); !errors.Is(cause, ErrLost) {
					t.Errorf("cause is %v", cause)
				}
				if err := inner.Extend(t.Context()); !errors.Is(err, ErrLost) || inner.Remaining() > 0 {
					t.Errorf("extend: %v, remaining %v", err, inner.Remaining())
				}
			})
		})
	}
}

// TestReentrantReturnsNoLeaseThatIsOver: the timer that cancels its context may be late, and it may be lost before its
// validity ends.
func TestReentrantReturnsNoLeaseThatIsOver(t *testing.T) {
	next := &countingLocker{}
	l := Reentrant(next)
	outer := mustAcquire(t, l, t.Context(), "a")
	next.passed = time.Second
	if mustAcquire(t, l, outer.Context(), "a"); next.acquired != 2 {
		t.Error("a lease without validity was entered")
	}
	next.passed = 0
	outer = mustAcquire(t, l, t.Context(), "b")
	outer.(*handle).Lease.(*countedLease).cancel(ErrLost)
	if mustAcquire(t, l, context.WithoutCancel(outer.Context()), "b"); next.acquired != 4 {
		t.Error("a lease whose context has ended was entered")
	}
}

// TestReentrantReleasedHandleIsOver, while others keep the lease.
func TestReentrantReleasedHandleIsOver(t *testing.T) {
	l := Reentrant(&countingLocker{})
	outer := mustAcquire(t, l, t.Context(), "a")
	inner, last := mustAcquire(t, l, outer.Context(), "a"), mustAcquire(t, l, outer.Context(), "a")
	for name, h := range map[string]Lease{"inner": inner, "outer": outer} {
		if err := h.Extend(t.Context()); err != nil || h.Remaining() != time.Second {
			t.Errorf("%s: extend: %v, remaining %v", name, err, h.Remaining())
		}
		_ = h.Release(t.Context())
		if err := h.Extend(t.Context()); !errors.Is(err, ErrReleased) || h.Remaining() != 0 {
			t.Errorf("%s is released; extend: %v, remaining %v", name, err, h.Remaining())
		}
	}
	if err := last.Extend(t.Context()); err != nil || last.Remaining() != time.Second || last.Context().Err() != nil {
		t.Errorf("the last handle: %v, remaining %v", err, last.Remaining())
	}
	ctx, cancel := context.WithCancel(last.Context())
	bounded := mustAcquire(t, l, ctx, "a")
	cancel()
	if err := bounded.Extend(t.Context()); !errors.Is(err, context.Canceled) || bounded.Remaining() != 0 {
		t.Errorf("a handle whose context ended; extend: %v, remaining %v", err, bounded.Remaining())
	}
}

// slots grants slot 1 to who asks for slot 0, as a queue for all slots may.
type slots struct{ countingLocker }

func (s *slots) Acquire(ctx context.Context, _ string, opts ...AcquireOption) (Lease, error) {
	return s.countingLocker.Acquire(ctx, "pool#1", opts...)
}

// TestReentrantKnowsTheSlotThatWasGranted: it is the one to enter again, not the one that was asked for.
func TestReentrantKnowsTheSlotThatWasGranted(t *testing.T) {
	next := &slots{}
	l := Reentrant(next)
	permit := mustAcquire(t, l, t.Context(), "pool#0")
	if mustAcquire(t, l, permit.Context(), "pool#1"); next.acquired != 1 {
		t.Error("the slot was not entered again")
	}
	if mustAcquire(t, l, permit.Context(), "pool#0"); next.acquired != 2 {
		t.Error("another slot was entered")
	}
}

// TestReentrantModes: a reader re-enters as a reader only, everybody else in any way.
func TestReentrantModes(t *testing.T) {
	for _, c := range []struct {
		holds, asks Mode
		enters      bool
	}{
		{ModeRead, ModeRead, true}, {ModeRead, ModeWrite, false}, {ModeRead, ModeExclusive, false}, {ModeWrite, ModeRead, true},
		{ModeWrite, ModeWrite, true}, {ModeExclusive, ModeRead, true},
	} {
		next := &countingLocker{}
		l := Reentrant(next)
		outer, err := l.Acquire(t.Context(), "a", InMode(c.holds))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Acquire(outer.Context(), "a", InMode(c.asks)); err != nil || (next.acquired == 1) != c.enters {
			t.Errorf("who holds it in mode %d and asks for %d: next was asked %d times, %v", c.holds, c.asks, next.acquired, err)
		}
	}
}
