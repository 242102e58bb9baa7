package redlock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// minorities are the sets of nodes that may fail without any effect on callers.
var minorities = []struct{ nodes, failing int }{{3, 1}, {5, 2}}

func firstOf(n int) (nodes []int) {
	for i := range n {
		nodes = append(nodes, i)
	}
	return nodes
}

func renewed(e locktrace.RenewEnd) bool { return e.Outcome == locktrace.RenewDone }

func TestRealPausedMinorityWhileHeld(t *testing.T) {
	for _, m := range minorities {
		t.Run(fmt.Sprintf("%d of %d", m.failing, m.nodes), func(t *testing.T) {
			t.Parallel()
			f, rec, failing := startNodes(t, m.nodes), newRecorder(), firstOf(m.failing)
			const ttl = 3 * soon
			lease, err := f.locker(lock.WithNodeTimeout(ttl/4)).Acquire(rec.in(t.Context()), "job", lock.TTL(ttl))
			must(t, err)
			f.pause(failing...)
			awaitEvents(t, rec, 2*ttl, 2, "a renewal", renewed)
			if lease.Context().Err() != nil || lease.Remaining() < ttl/2 {
				t.Errorf("%v left, %v", lease.Remaining(), lease.Context().Err())
			}
			began := time.Now()
			must(t, lease.Release(t.Context()))
			wantWithin(t, "release", time.Since(began), ttl/6)
			f.wantNoLocks(f.all()[m.failing:]...)
			rec.wantPaired(t) // no request to a paused node is under way any more
			f.resume(failing...)
			// The paused nodes now run what was sent to them. The key must not come back for a TTL.
			resumed := time.Now()
			wantWithin(t, "clean-up", f.wantNoLocks().Sub(resumed), ttl/2)
		})
	}
}

func TestRealPausedMinorityWhileAcquiring(t *testing.T) {
	for _, m := range minorities {
		for _, warm := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d of %d warm %v", m.failing, m.nodes, warm), func(t *testing.T) {
				t.Parallel()
				f, rec, failing := startNodes(t, m.nodes), newRecorder(), firstOf(m.failing)
				l := f.locker(lock.WithNodeTimeout(hungTimeout))
				if warm {
					f.warm(l)
				}
				f.pause(failing...)
				for i := range 5 {
					began := time.Now()
					lease, err := l.Acquire(rec.in(t.Context()), fmt.Sprint("job", i%2), lock.TTL(longTTL))
					must(t, err)
					wantWithin(t, "acquire", time.Since(began), soon)
					began = time.Now()
					must(t, lease.Release(t.Context()))
					wantWithin(t, "release", time.Since(began), soon)
				}
				rec.wantPaired(t) // no request to a paused node is under way any more
				f.resume(failing...)
				f.wantNoLocks()
			})
		}
	}
}

// TestRealPausedMajority leaves no quorum: the error comes soon and names every silent node.
func TestRealPausedMajority(t *testing.T) {
	f := startNodes(t, 3)
	l := f.locker()
	f.warm(l)
	f.pause(0, 1)
	began := time.Now()
	_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantWithin(t, "NoWait", time.Since(began), soon)
	wantNoQuorum(t, f, err, driver.ErrTimeout, 0, 1)

	rec := newRecorder()
	waiting := acquireAsync(rec.in(t.Context()), l, "job", lock.TTL(longTTL))
	awaitEvents(t, rec, settleTime, 2, "a wait for the nodes",
		func(e locktrace.WaitEnd) bool { return e.Kind == locktrace.WaitBackingOff })
	f.resume(0, 1)
	g := await(t, settleTime, "the waiting Acquire", waiting)
	must(t, g.err)
	must(t, g.lease.Release(t.Context()))
	f.wantNoLocks()
	rec.wantPaired(t)
}

// wantNoQuorum requires a QuorumError with exactly the given nodes' reasons, each matching target.
func wantNoQuorum(t *testing.T, f *realNodes, err error, target error, nodes ...int) {
	t.Helper()
	quorum, ok := errors.AsType[*lock.QuorumError](err)
	if !ok {
		t.Fatalf("error is %T %v, want a *QuorumError", err, err)
	}
	wantErr(t, err, lock.ErrNoQuorum)
	if len(quorum.Errors) != len(nodes) {
		t.Errorf("%d reasons, want %d: %v", len(quorum.Errors), len(nodes), err)
	}
	for _, i := range nodes {
		found := false
		for _, e := range quorum.Errors {
			if e.Node == f.servers[i].Addr() {
				found = true
				wantErr(t, e, target)
			}
		}
		if !found {
			t.Errorf("nothing said of node %s: %v", f.servers[i].Addr(), err)
		}
	}
}

// TestRealExtendWithoutQuorum extends by hand while the lease is valid: the error names the silent nodes, and the lease
// goes on.
func TestRealExtendWithoutQuorum(t *testing.T) {
	f := startNodes(t, 3)
	lease := acquire(t, f.locker(), "job", lock.TTL(longTTL), lock.NoRenew())
	f.pause(0, 1)
	began := time.Now()
	err := lease.Extend(t.Context())
	wantWithin(t, "extend", time.Since(began), soon)
	wantNoQuorum(t, f, err, driver.ErrTimeout, 0, 1)
	f.resume(0, 1)
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	f.wantNoLocks()
}
