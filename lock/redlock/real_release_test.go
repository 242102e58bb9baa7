package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// takenOver returns a lease that all nodes but the last have lost to another owner.
func takenOver(t *testing.T, f *realNodes) (lost, holder lock.Lease) {
	t.Helper()
	// A release that is repeated after a timeout counts as done by the first request, so no answer may be late.
	lost = acquire(t, f.locker(lock.WithNodeTimeout(patience)), "job", lock.TTL(longTTL), lock.NoRenew())
	last := len(f.servers) - 1
	eventually(t, settleTime, "every node has the lease", func() bool {
		return len(f.keys("lock:job",
			f.all()...)) == len(f.servers)
	})
	for i := range last {
		must(t, f.admin[i].Del(t.Context(), "lock:job").Err())
	}
	return lost, acquire(t, f.locker(), "job", lock.TTL(longTTL), lock.NoRenew())
}

// TestRealReleaseByPlurality: one node still had the lease and released it; the others have another owner. However fast
// that node is, the release did not come in time.
func TestRealReleaseByPlurality(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{3, 5} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			f := startNodes(t, nodes)
			lost, holder := takenOver(t, f)
			for _, i := range f.all()[:nodes-1] { // the node with the lease answers first
				must(t, f.admin[i].Do(t.Context(), "client", "pause", (nodeTimeout/4).Milliseconds()).Err())
			}
			err := lost.Release(t.Context())
			wantErr(t, err, lock.ErrNotHeld)
			if e, ok := errors.AsType[*lock.ReleaseError](err); !ok || e.Outcome != lock.OutcomeNotOwner {
				t.Errorf("release says %v, want that somebody else holds it", err)
			}
			must(t, holder.Extend(t.Context()))
			must(t, holder.Release(t.Context()))
			f.wantNoLocks()

			err = lock.Do(t.Context(), f.locker(), "job", func(ctx context.Context, _ lock.Lease) error {
				for _, i := range f.all()[1:] {
					must(t, f.admin[i].Set(ctx, "lock:job", "somebody else's", longTTL).Err())
				}
				return nil
			}, lock.NoRenew(), lock.TTL(longTTL))
			wantErr(t, err, lock.ErrNotHeld)
		})
	}
}

// TestRealCancelledCallsBlameNobody: a node that was not given the time to answer is not at fault.
func TestRealCancelledCallsBlameNobody(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	lease := acquire(t, f.locker(lock.WithNodeTimeout(patience)), "job", lock.TTL(longTTL), lock.NoRenew())
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errWhyForTest)
	f.pause(0, 1)
	soon, stop := context.WithTimeout(t.Context(), nodeTimeout/4)
	defer stop()
	for name, test := range map[string]struct {
		ctx    context.Context
		want   error
		reason lock.Reason
	}{
		"cancelled before":      {cancelled, errWhyForTest, lock.ReasonCanceled},
		"deadline in the midst": {soon, context.DeadlineExceeded, lock.ReasonTimeout},
	} {
		err := lease.Extend(test.ctx)
		wantErr(t, err, test.want)
		wantText(t, err, `"job"`)
		if reason := lock.ReasonOf(err); errors.Is(err, lock.ErrNoQuorum) || reason != test.reason {
			t.Errorf("%s: reason %q, want %q: %v", name, reason, test.reason, err)
		}
	}
	f.resume(0, 1)
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
}

// TestRealFailedNodesAreBlamed although a context ends, too: they had the time to answer.
func TestRealFailedNodesAreBlamed(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	lease := acquire(t, f.locker(lock.WithNodeTimeout(hungTimeout)), "job", lock.TTL(longTTL), lock.NoRenew())
	f.kill(0, 1)
	ctx, cancel := context.WithTimeout(t.Context(), soon) // a refused dial is immediate
	defer cancel()
	err := lease.Release(ctx)
	wantErr(t, err, lock.ErrNoQuorum, context.DeadlineExceeded)
	if reason := lock.ReasonOf(err); reason != lock.ReasonNoQuorum {
		t.Errorf("reason %q: %v", reason, err)
	}
}

var errWhyForTest = errors.New("user went away")

// TestMaxWaitIsNoDeadline: the error distinguishes a spent MaxWait from the end of the caller's context.
func TestMaxWaitIsNoDeadline(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	l := f.locker()
	holder := acquire(t, l, "job", lock.TTL(longTTL))
	_, err := l.Acquire(t.Context(), "job", lock.MaxWait(nodeTimeout))
	wantErr(t, err, lock.ErrMaxWait)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no context has ended: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), nodeTimeout)
	defer cancel()
	_, err = l.Acquire(ctx, "job", lock.MaxWait(waitTime))
	wantErr(t, err, context.DeadlineExceeded)
	if errors.Is(err, lock.ErrMaxWait) {
		t.Errorf("the budget was not spent: %v", err)
	}
	must(t, holder.Release(t.Context()))
}
