package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestRealCancelAcquireWithoutQuorum gives up while a majority is paused: the other nodes lose their grants at once.
func TestRealCancelAcquireWithoutQuorum(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 5), newRecorder()
	l := f.locker(lock.WithNodeTimeout(soon))
	f.warm(l)
	f.pause(0, 1, 2)
	ctx, cancel := context.WithCancelCause(rec.in(t.Context()))
	defer cancel(nil)
	waiting := acquireAsync(ctx, l, "job", lock.TTL(longTTL))
	granted := func(e locktrace.NodeEnd) bool { return e.Op == lock.OpAcquire && e.Verdict == lock.VerdictGranted }
	awaitEvents(t, rec, settleTime, 4, "a granted vote", granted) // in the second attempt, which has a failure to report
	errWhy := errors.New("user went away")
	cancel(errWhy)
	cancelled := time.Now()
	g := await(t, settleTime, "the cancelled Acquire", waiting)
	wantWithin(t, "giving up", g.at.Sub(cancelled), soon/2)
	wantErr(t, g.err, context.Canceled, errWhy, lock.ErrNoQuorum, driver.ErrTimeout)
	if reason := lock.ReasonOf(g.err); reason != lock.ReasonCanceled {
		t.Errorf("reason is %q", reason)
	}
	f.wantNoLocks(3, 4)
	rec.wantPaired(t)
	f.resume(0, 1, 2)
	f.wantNoLocks()
}

// TestRealCancelWaiter gives up while another caller holds the lock: it leaves no place in the queue.
func TestRealCancelWaiter(t *testing.T) {
	f, rec := startNodes(t, 3), newRecorder()
	holder := acquire(t, f.locker(), "job", lock.TTL(longTTL))
	ctx, cancel := context.WithCancel(rec.in(t.Context()))
	defer cancel()
	waiting := acquireAsync(ctx, f.locker(lock.WithPollInterval(time.Minute)), "job", lock.TTL(longTTL))
	eventually(t, settleTime, "it queues", func() bool { return f.queued("job") == 1 })
	cancel()
	g := await(t, settleTime, "the cancelled Acquire", waiting)
	wantErr(t, g.err, context.Canceled, lock.ErrHeld)
	if refused, ok := errors.AsType[*lock.HeldError](g.err); !ok || refused.Holder.Instance == "" ||
		refused.Remaining <= 0 {
		t.Errorf("the error does not say who held it: %v", g.err)
	}
	eventually(t, settleTime, "it has left the queue", func() bool { return f.queued("job") == 0 })
	must(t, holder.Release(t.Context()))
	f.wantNoLocks()
	rec.wantPaired(t)
}

// TestRealReleaseWithCancelledContext releases as a deferred Release does in a handler whose client has left.
func TestRealReleaseWithCancelledContext(t *testing.T) {
	f := startNodes(t, 5)
	l := f.locker()
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := l.Acquire(ctx, "job", lock.TTL(longTTL))
	must(t, err)
	cancel()
	<-lease.Context().Done()
	_ = lease.Release(ctx) // the outcome may be unknown
	f.wantOnlyFences()
	other := acquire(t, l, "job", lock.NoWait())
	must(t, other.Release(t.Context()))
}

// TestRealReleaseBoundedByContext does not wait for paused nodes longer than its context allows.
func TestRealReleaseBoundedByContext(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 3), newRecorder()
	lease, err := f.locker(lock.WithNodeTimeout(hungTimeout)).Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
	must(t, err)
	f.pause(0, 1)
	ctx, cancel := context.WithTimeout(t.Context(), nodeTimeout/4)
	defer cancel()
	began := time.Now()
	err = lease.Release(ctx)
	wantWithin(t, "release", time.Since(began), soon)
	wantErr(t, err, context.DeadlineExceeded)
	if errors.Is(err, lock.ErrNoQuorum) || lock.ReasonOf(err) != lock.ReasonTimeout {
		t.Errorf("nodes are blamed for the caller's deadline, reason %q: %v", lock.ReasonOf(err), err)
	}
	if e, ok := errors.AsType[*lock.ReleaseError](err); !ok || e.Outcome != lock.OutcomeUnknown {
		t.Errorf("release says %v, want unknown", err)
	}
	if again := lease.Release(t.Context()); again == nil || again.Error() != err.Error() {
		t.Errorf("released again: %v, want %v", again, err)
	}
	rec.wantPaired(t)
	f.resume(0, 1)
	f.wantNoLocks()
}
