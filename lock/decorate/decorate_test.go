package decorate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestLocker(t *testing.T) {
	logText(t)
	for name, around := range map[string]func(*memlock.Locker) lock.Locker{
		"example": func(l *memlock.Locker) lock.Locker { return countLosses(l) },
		"nested": func(l *memlock.Locker) lock.Locker {
			return record(countLosses(lock.Reentrant(record(countLosses(l)))))
		},
		"without hooks": func(l *memlock.Locker) lock.Locker { return record(unhooked{l}) },
		"panicking":     func(l *memlock.Locker) lock.Locker { r := record(l); r.panic = "Ended"; return r },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, locktest.Driver{
				Start: func(testing.TB) locktest.Maker {
					nodes := memlock.NewNodes(3)
					return func(t testing.TB, opts ...lock.Option) lock.Locker { return around(newLocker(t, nodes, opts...)) }
				},
				Capabilities: driver.Capabilities{Keep: true, Readers: true},
			})
		})
	}
}

// TestEndIsToldOnce ends leases in every possible way, and releases all of them twice.
func TestEndIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(t *testing.T, l *memlock.Locker, cancel context.CancelFunc)
		opts []lock.AcquireOption
		want string
	}{
		{"released", func(*testing.T, *memlock.Locker, context.CancelFunc) {}, nil, lock.ErrReleased.Error()},
		{"lost", func(t *testing.T, l *memlock.Locker, _ context.CancelFunc) {
			if err := l.Lose("job"); err != nil {
				t.Error(err)
			}
		}, nil, lock.ErrLost.Error() + `: "job" was lost at 2000-01-01T00:00:00Z, and others may hold it now; ` +
			`last renewal: 1 of 1 nodes no longer hold "job" (mem1: not held), unreleased:`},
		{"expired", func(*testing.T, *memlock.Locker, context.CancelFunc) { time.Sleep(2 * lock.DefaultTTL) },
			[]lock.AcquireOption{lock.NoRenew()}, lock.ErrLost.Error() +
				`: "job" was lost at 2000-01-01T00:00:09Z, and others may hold it now, unreleased:`},
		{"held for too long", func(*testing.T, *memlock.Locker, context.CancelFunc) { time.Sleep(2 * time.Second) },
			[]lock.AcquireOption{lock.MaxHold(time.Second)}, lock.ErrMaxHold.Error() + ", unreleased:"},
		{"cancelled", func(_ *testing.T, _ *memlock.Locker, cancel context.CancelFunc) { cancel() },
			nil, context.Canceled.Error() + ", unreleased:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLocker(t, memlock.NewNodes(1))
				r := record(unhooked{l})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				lease, err := r.Acquire(ctx, "job", c.opts...)
				must(t, err)
				c.end(t, l, cancel)
				synctest.Wait()
				_, _ = lease.Release(t.Context()), lease.Release(t.Context())
				synctest.Wait()
				r.wantEvents(t, c.want+" job")
			})
		})
	}
}

// TestHooksFindTheirCall: each of two decorators, and the caller, gets every event once. A lock that the holder takes
// inside is another call.
func TestHooksFindTheirCall(t *testing.T) {
	l := newLocker(t, memlock.NewNodes(1))
	inner := record(l)
	outer := record(inner)
	heard := 0
	ctx := locktrace.With(t.Context(), &locktrace.Trace{AttemptEnd: func(context.Context, locktrace.AttemptEnd) { heard++ }})
	ctx = context.WithValue(ctx, valueKey{}, "the caller's")
	must(t, lock.Do(ctx, outer, "order", func(ctx context.Context, lease lock.Lease) error {
		if got := ctx.Value(valueKey{}); got != "the caller's" {
			t.Errorf("the holder sees %v", got)
		}
		if outer.layer.Find(ctx) != nil || inner.layer.Find(ctx) != nil {
			t.Error("the holder works inside of the call")
		}
		if err := lease.Extend(ctx); err != nil {
			return err
		}
		return lock.Do(ctx, outer, "item", func(context.Context, lock.Lease) error { return nil })
	}))
	released := lock.ErrReleased.Error()
	for _, r := range []*recorder{inner, outer} {
		r.wantEvents(t, "attempt order", "renewal order", "attempt item", "release item", released+" item",
			"release order", released+" order")
	}
	if heard != 2 {
		t.Errorf("the caller's trace heard of %d attempts, want 2", heard)
	}
}

// TestRenewalsFindTheirCall, also the renewals that no caller asked for.
func TestRenewalsFindTheirCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(newLocker(t, memlock.NewNodes(1)))
		lease, err := r.Acquire(t.Context(), "job", lock.TTL(3*time.Second))
		must(t, err)
		time.Sleep(1500 * time.Millisecond)
		must(t, lease.Release(t.Context()))
		r.wantEvents(t, "attempt job", "renewal job", "release job", lock.ErrReleased.Error()+" job")
	})
}

// TestHookedOrNot: a hook reports whether a call waits; without hooks its options do.
func TestHookedOrNot(t *testing.T) {
	l := newLocker(t, memlock.NewNodes(1))
	for _, c := range []struct {
		name   string
		next   lock.Locker
		hooks  *locktrace.Trace
		hooked bool
	}{
		{"hooks", l, &locktrace.Trace{}, true},
		{"a Locker without hooks", unhooked{l}, &locktrace.Trace{}, false},
		{"nobody asks for hooks", l, nil, false},
	} {
		layer := decorate.NewLayer(c.hooks)
		for _, opts := range [][]lock.AcquireOption{nil, {lock.NoWait()}} {
			var call decorate.Call
			call.Start(t.Context(), layer, nil)
			lease, err := c.next.Acquire(&call, "job", opts...)
			must(t, err)
			if call.Hooked() != c.hooked {
				t.Errorf("%s: hooked: %v", c.name, call.Hooked())
			}
			if got, want := call.NoWait(opts), len(opts) > 0; got != want {
				t.Errorf("%s: does not wait: %v, want %v", c.name, got, want)
			}
			if c.hooked && call.NoWait(nil) != call.NoWait(opts) {
				t.Errorf("%s: the options count for more than the hook", c.name)
			}
			must(t, lease.Release(t.Context()))
		}
	}
}

// TestWhereNobodyIsTold: a Lease works without an Ender and without Watch.
func TestWhereNobodyIsTold(t *testing.T) {
	l := newLocker(t, memlock.NewNodes(1))
	var call decorate.Call
	call.Start(t.Context(), decorate.NewLayer(nil), nil)
	next, err := l.Acquire(&call, "job")
	must(t, err)
	var lease decorate.Lease
	lease.Begin(&call, next, nil)
	if lease.Next() != next || lease.Resource() != "job" || lease.Fence() != next.Fence() || lease.Remaining() <= 0 {
		t.Error("the lease is not the next one's")
	}
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrReleased) {
		t.Errorf("cause: %v", cause)
	}
	if lease.StartRelease() {
		t.Error("the lease is released for the first time twice")
	}
}
