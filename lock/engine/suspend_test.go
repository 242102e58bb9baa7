package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestSuspendedHostDoesNotTrustItsLease: a host wakes after an hour during which its monotonic clock, and so its
// timers, stood still.
func TestSuspendedHostDoesNotTrustItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var suspended atomic.Int64
		clock := func() time.Duration { return time.Since(began) + time.Duration(suspended.Load()) }
		locker := locktest.NewFakes(t, 3, engine.WithClock(clock))(t)
		lease, err := locker.Acquire(t.Context(), "job", lock.NoRenew())
		if err != nil {
			t.Fatal(err)
		}
		suspended.Add(int64(time.Hour))
		if left := lease.Remaining(); left > 0 {
			t.Errorf("%v left after an hour", left)
		}
		if err := lease.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("Extend says %v, want ErrLost", err)
		}
		awake := time.Now()
		<-lease.Context().Done()
		if d := time.Since(awake); d > time.Second {
			t.Errorf("the loss was signalled %v after waking up", d)
		}
		if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("cause is %v", cause)
		}
	})
}

// TestALeaseThatRanOutBeforeItWasReturned: the host is suspended between the vote and the return of Acquire. Acquire
// must not return an expired lease as a success.
func TestALeaseThatRanOutBeforeItWasReturned(t *testing.T) {
	for name, opts := range map[string][]lock.AcquireOption{"waiting": nil, "NoWait": {lock.NoWait()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var suspended atomic.Int64
				clock := func() time.Duration { return time.Since(began) + time.Duration(suspended.Load()) }
				locker := locktest.NewFakes(t, 3, engine.WithClock(clock))(t)
				attempts := 0
				ctx := locktrace.With(t.Context(), &locktrace.Trace{AttemptEnd: func(_ context.Context, e locktrace.AttemptEnd) {
					if attempts++; e.Attempt == 1 {
						suspended.Add(int64(time.Hour))
					}
				}})
				lease, err := locker.Acquire(ctx, "job", opts...)
				if name == "NoWait" {
					if !errors.Is(err, lock.ErrTooLate) || lock.ReasonOf(err) != lock.ReasonNoQuorum {
						t.Fatalf("got %v, want ErrTooLate", err)
					}
					return
				}
				if err != nil || attempts < 2 || lease.Remaining() <= 0 {
					t.Fatalf("%v after %d attempts", err, attempts)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
