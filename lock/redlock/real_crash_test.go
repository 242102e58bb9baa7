package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRealKilledMinority kills nodes while the lock is held, and acquires while they are down.
func TestRealKilledMinority(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("data kept %v", kept), func(t *testing.T) {
			var opts []redisproc.Option
			if kept {
				opts = append(opts, appendOnly())
			}
			f, rec := startNodes(t, 5, opts...), newRecorder()
			l := f.locker()
			f.warm(l)
			lease, err := l.Acquire(rec.in(t.Context()), "held", lock.TTL(longTTL), lock.NoRenew())
			must(t, err)
			f.kill(0, 1)
			must(t, lease.Extend(t.Context()))
			began := time.Now()
			other := acquire(t, l, "other", lock.TTL(longTTL))
			wantWithin(t, "acquire", time.Since(began), soon)
			must(t, other.Release(t.Context()))
			must(t, lease.Release(t.Context()))
			f.wantNoLocks(2, 3, 4)
			if !kept {
				f.wipe(0, 1)
			}
			f.restart(0, 1)
			f.wantNoLocks()
			must(t, acquire(t, l, "other", lock.TTL(longTTL)).Release(t.Context()))
			f.wantNoLocks()
			rec.wantPaired(t)
		})
	}
}

// TestRealLostMajority kills a majority while the lock is held: the lease must end before its validity does.
func TestRealLostMajority(t *testing.T) {
	for name, fail := range map[string]func(*realNodes, ...int){"paused": (*realNodes).pause,
		"killed": (*realNodes).kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, rec := startNodes(t, 3), newRecorder()
			const ttl = 9 * time.Second
			lease, err := f.locker().Acquire(rec.in(t.Context()), "job", lock.TTL(ttl))
			must(t, err)
			awaitEvents(t, rec, ttl, 1, "a renewal", renewed)
			fail(f, 0, 1)
			deadline, stalled := watch(t, lease, ttl)
			// The simulation checks this to the nanosecond. Here a busy machine may be late.
			if late := time.Since(deadline); late > nodeTimeout+2*stalled {
				t.Errorf("the loss was signalled %v after the end of validity, where a tick was %v late", late, stalled)
			}
			wantErr(t, context.Cause(lease.Context()), lock.ErrLost)
			if left := lease.Remaining(); left > 0 {
				t.Errorf("a lost lease has %v left", left)
			}
			wantErr(t, lease.Extend(t.Context()), lock.ErrLost)
			began := time.Now()
			err = lease.Release(t.Context())
			wantWithin(t, "release", time.Since(began), settleTime)
			if e, ok := errors.AsType[*lock.ReleaseError](err); !ok || e.Outcome != lock.OutcomeUnknown ||
				e.Unknown != 2 {
				t.Errorf("release says %v, want unknown on 2 nodes", err)
			}
			rec.wantPaired(t) // no request is under way any more
			if name == "killed" {
				f.restart(0, 1)
			}
			f.resume(0, 1)
			// A late renewal must not restore the key: for a TTL nobody would hold the lock and nobody could acquire
			// it.
			resumed := time.Now()
			wantWithin(t, "clean-up", f.wantNoLocks().Sub(resumed), ttl/2)
		})
	}
}

// watch waits until the lease's context ends. It returns the latest end of validity that the lease announced, and for
// how long this process did not run meanwhile.
func watch(t *testing.T, lease lock.Lease, ttl time.Duration) (deadline time.Time, stalled time.Duration) {
	t.Helper()
	timeout := time.After(ttl + settleTime)
	last := time.Now()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		stalled, last = max(stalled, time.Since(last)), time.Now()
		if end := time.Now().Add(lease.Remaining()); lease.Context().Err() == nil && end.After(deadline) {
			deadline = end
		}
		select {
		case <-lease.Context().Done():
			return deadline, max(stalled, time.Since(last))
		case <-timeout:
			t.Fatalf("not lost after %v", ttl+settleTime)
		case <-tick.C:
		}
	}
}

// TestRealKilledMajority: acquires are refused at once with every node's reason, and succeed once the nodes are back.
func TestRealKilledMajority(t *testing.T) {
	f := startNodes(t, 3)
	l := f.locker()
	f.warm(l)
	f.kill(1, 2)
	began := time.Now()
	_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantWithin(t, "NoWait", time.Since(began), soon)
	wantNoQuorum(t, f, err, syscall.ECONNREFUSED, 1, 2)
	waiting := acquireAsync(t.Context(), l, "job", lock.TTL(longTTL))
	f.restart(1, 2)
	g := await(t, settleTime, "the waiting Acquire", waiting)
	must(t, g.err)
	must(t, g.lease.Release(t.Context()))
	f.wantNoLocks()
}
