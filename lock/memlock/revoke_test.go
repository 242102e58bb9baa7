package memlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// settled acquires, and waits for the nodes that the vote did not need.
func settled(t *testing.T, l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease := acquire(t, l, opts...)
	synctest.Wait()
	return lease
}

var swap = engine.RevokeRequest{By: "ops@host", Reason: "disk swap"}

// wantRevoked fails the test unless the context ended because of this revoke.
func wantRevoked(t *testing.T, ctx context.Context, by string) {
	t.Helper()
	revoked, ok := errors.AsType[*lock.RevokedError](context.Cause(ctx))
	if !ok || revoked.By != by || revoked.Reason == "" || !errors.Is(revoked, lock.ErrLost) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}

func TestRevoke(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5} {
		inBubble(t, n, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
			holder, next := newLocker(t, nodes, lock.WithInstance("holder")), newLocker(t, nodes)
			lease := settled(t, holder)
			time.Sleep(lock.DefaultTTL) // long enough for renewals
			if n > 2 {
				nodes[0].Forget() // it is free already
			}
			r, err := l.Revoke(t.Context(), "job", swap)
			if err != nil || r.Resource != "job" || len(r.Holders) != 1 || r.Marked != n || r.Nodes != n || r.FreeIn <= 0 ||
				r.FreeIn > lock.DefaultTTL {
				t.Fatalf("%d nodes: %+v, %v", n, r, err)
			}
			if h := r.Holders[0]; h.Holder.Instance != "holder" || h.Fence != lease.Fence() || h.Again || h.Mark.By != "ops@host" {
				t.Errorf("%d nodes: %+v", n, h)
			}
			if lease.Context().Err() != nil {
				t.Error("the lease ended before its holder knew")
			}
			revoked := time.Now()
			got, err := next.Acquire(t.Context(), "job") // the holder never releases
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(revoked); took > r.FreeIn+time.Second || took < r.FreeIn-2*time.Millisecond {
				t.Errorf("free after %v, promised %v", took, r.FreeIn)
			}
			wantRevoked(t, lease.Context(), "ops@host")
			if got.Fence() <= lease.Fence() {
				t.Errorf("fence %d after %d", got.Fence(), lease.Fence())
			}
			time.Sleep(2 * lock.DefaultTTL)
			if got.Context().Err() != nil {
				t.Errorf("the next lease ended: %v", context.Cause(got.Context()))
			}
		})
	}
}

// TestRevokedHolderReleases: who stops at the signal need not be waited for.
func TestRevokedHolderReleases(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		holder := newLocker(t, nodes)
		var renewal error
		ctx := locktrace.With(t.Context(), &locktrace.Trace{RenewEnd: func(_ context.Context, e locktrace.RenewEnd) { renewal = e.Err }})
		work := make(chan error, 1)
		began := make(chan struct{})
		go func() {
			work <- lock.Do(ctx, holder, "job", func(ctx context.Context, _ lock.Lease) error {
				close(began)
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		<-began
		if _, err := l.Revoke(t.Context(), "job", swap); err != nil {
			t.Fatal(err)
		}
		revoked := time.Now()
		lease := acquire(t, l)
		if took := time.Since(revoked); took > lock.DefaultTTL/2 {
			t.Errorf("waited %v", took)
		}
		if err := <-work; !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), "ops@host") ||
			!strings.Contains(err.Error(), "disk swap") {
			t.Errorf("Do: %v", err)
		}
		synctest.Wait() // the engine ends a lease, and then tells the trace
		if _, ok := errors.AsType[*lock.RevokedError](renewal); !ok {
			t.Errorf("the trace has %v", renewal)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRevokeTwice(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease := settled(t, newLocker(t, nodes))
		first, err := l.Revoke(t.Context(), "job", swap)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		again, err := l.Revoke(t.Context(), "job", engine.RevokeRequest{By: "another", Reason: "impatience"})
		if err != nil || !again.Holders[0].Again || again.Holders[0].Mark != first.Holders[0].Mark || again.FreeIn != first.FreeIn-time.Second {
			t.Errorf("%+v, %v; first %+v", again, err, first)
		}
		<-lease.Context().Done()
		wantRevoked(t, lease.Context(), "ops@host")
		acquire(t, l)
		if r, err := l.Revoke(t.Context(), "job", engine.RevokeRequest{By: "another", Reason: "the next holder"}); err != nil ||
			r.Holders[0].Again || r.Holders[0].Mark.By != "another" {
			t.Errorf("the next holder: %+v, %v", r, err)
		}
	})
}

// TestRevokeWithNodesMissing: a minority is not needed. If a majority is missing, the lease goes on.
func TestRevokeWithNodesMissing(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease := settled(t, newLocker(t, nodes))
		for _, n := range nodes[:3] {
			n.Freeze()
		}
		_, err := l.Revoke(t.Context(), "job", swap)
		var quorum *lock.QuorumError
		if !errors.As(err, &quorum) || quorum.Op != lock.OpPeek || quorum.Granted != 2 {
			t.Errorf("three of five are frozen: %v", err)
		}
		nodes.Recover()
		confirm := swap
		confirm.Confirm = func([]lock.Sighting) error { nodes.NoQuorum(); return nil }
		_, err = l.Revoke(t.Context(), "job", confirm)
		if !errors.As(err, &quorum) || quorum.Op != lock.OpRevoke || quorum.Granted != 2 || quorum.Quorum != 3 {
			t.Errorf("three of five went down before they were marked: %v", err)
		}
		nodes.Recover()
		time.Sleep(3 * lock.DefaultTTL)
		if lease.Context().Err() != nil {
			t.Errorf("a minority was marked, and the lease ended: %v", context.Cause(lease.Context()))
		}
		if r, err := l.Revoke(t.Context(), "job", swap); err != nil || r.Marked != 5 || !r.Holders[0].Again {
			t.Errorf("all five answer: %+v, %v", r, err)
		}
		<-lease.Context().Done()
		wantRevoked(t, lease.Context(), "ops@host")
	})
	inBubble(t, 5, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease := settled(t, newLocker(t, nodes))
		nodes[4].Freeze()
		r, err := l.Revoke(t.Context(), "job", swap)
		if err != nil || r.Marked != 4 || r.Holders[0].Again || r.FreeIn <= 0 {
			t.Errorf("one of five is frozen: %+v, %v", r, err)
		}
		<-lease.Context().Done()
		wantRevoked(t, lease.Context(), "ops@host")
	})
}

// TestRevokeIsRefused before anything is marked.
func TestRevokeIsRefused(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		ctx := t.Context()
		_, err := l.Revoke(ctx, "job", swap)
		if text := `lock: revoke of "job": nobody holds it`; !errors.Is(err, lock.ErrNotHeld) || err.Error() != text {
			t.Errorf("%v, want %s", err, text)
		}
		for _, bad := range []engine.RevokeRequest{
			{}, {By: "ops"}, {Reason: "why"}, {By: "o\nps", Reason: "why"}, {By: "ops", Reason: "\x1b[1m"},
			{By: "ops", Reason: strings.Repeat("x", lock.MaxReasonLength+1)}, {By: "\xff", Reason: "why"},
		} {
			if _, err := l.Revoke(ctx, "job", bad); !errors.Is(err, lock.ErrInvalidOption) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if _, err := l.Revoke(ctx, "", swap); !errors.Is(err, lock.ErrInvalidResource) {
			t.Errorf("no name: %v", err)
		}
		lease, errNo := settled(t, l), errors.New("no")
		var seen []lock.Sighting
		refused := swap
		refused.Confirm = func(all []lock.Sighting) error { seen = all; return errNo }
		if _, err := l.Revoke(ctx, "job", refused); !errors.Is(err, errNo) || len(seen) != 1 || !seen[0].Held ||
			seen[0].Fence != lease.Fence() {
			t.Errorf("not confirmed: %v, saw %+v", err, seen)
		}
		other := engine.RevokeRequest{By: "ops", Reason: "why", Instance: "another"}
		if _, err := l.Revoke(ctx, "job", other); !errors.Is(err, lock.ErrNotHeld) ||
			!strings.Contains(err.Error(), `instance "another" does not hold it`) {
			t.Errorf("another instance: %v", err)
		}
		time.Sleep(2 * lock.DefaultTTL)
		if lease.Context().Err() != nil {
			t.Errorf("not revoked, and the lease ended: %v", context.Cause(lease.Context()))
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := l.Revoke(over, "job", swap); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx is over: %v", err)
		}
	})
}

// TestRevokeAfterAHandOverInTheProcess ends the lease that has the grant now.
func TestRevokeAfterAHandOverInTheProcess(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		holder, leases := newLocker(t, nodes), make(chan lock.Lease, 2)
		before := acquire(t, l)
		synctest.Wait() // all nodes have granted, so the next runs of fences agree
		for range 2 {
			go func() {
				lease, err := holder.Acquire(t.Context(), "job")
				if err != nil {
					t.Error(err)
				}
				leases <- lease
			}()
		}
		synctest.Wait()
		if err := before.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		first := <-leases
		confirm := swap
		confirm.Confirm = func([]lock.Sighting) error { return first.Release(t.Context()) }
		if _, err := l.Revoke(t.Context(), "job", confirm); err != nil {
			t.Fatal(err)
		}
		lease := <-leases
		if lease.Fence() != first.Fence()+1 {
			t.Fatalf("fence %d after %d: it was not handed over", lease.Fence(), first.Fence())
		}
		<-lease.Context().Done()
		wantRevoked(t, lease.Context(), "ops@host")
	})
}

// TestRevokeOfAReleasedLease: the holder of the time before is not the one of today.
func TestRevokeOfAReleasedLease(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		first, next := settled(t, newLocker(t, nodes)), newLocker(t, nodes)
		var lease lock.Lease
		confirm := swap
		confirm.Confirm = func([]lock.Sighting) error {
			err := first.Release(t.Context())
			lease = acquire(t, next)
			return err
		}
		if r, err := l.Revoke(t.Context(), "job", confirm); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%+v, %v", r, err)
		}
		time.Sleep(2 * lock.DefaultTTL)
		if lease.Context().Err() != nil {
			t.Errorf("the next holder's lease ended: %v", context.Cause(lease.Context()))
		}
	})
}

// TestRevokeOfConstructs: a permit and a writer are leases as any other; readers are not.
func TestRevokeOfConstructs(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		s, err := semaphore.New(newLocker(t, nodes), "pool", 2)
		if err != nil {
			t.Fatal(err)
		}
		permits := make([]*semaphore.Permit, 2)
		for range permits {
			p, err := s.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			permits[p.Slot()] = p
		}
		if _, err := l.Revoke(t.Context(), "pool#1", swap); err != nil {
			t.Error(err)
		}
		<-permits[1].Context().Done()
		wantRevoked(t, permits[1].Context(), "ops@host")
		if permits[0].Context().Err() != nil {
			t.Error("the other permit ended")
		}
		rw, err := rwlock.New(newLocker(t, nodes), "data")
		if err != nil {
			t.Fatal(err)
		}
		reader, err := rw.RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Revoke(t.Context(), "data", swap); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("readers: %v", err)
		}
		if err := reader.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		writer, err := rw.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Revoke(t.Context(), "data", swap); err != nil {
			t.Errorf("a writer: %v", err)
		}
		<-writer.Context().Done()
		wantRevoked(t, writer.Context(), "ops@host")
	})
}

// TestExtendOfARevokedLease says who and why.
func TestExtendOfARevokedLease(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		lease := settled(t, newLocker(t, nodes), lock.NoRenew())
		if _, err := l.Revoke(t.Context(), "job", swap); err != nil {
			t.Fatal(err)
		}
		err := lease.Extend(t.Context())
		if revoked, ok := errors.AsType[*lock.RevokedError](err); !ok || revoked.Reason != "disk swap" ||
			!errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), " of 3 nodes do not renew") {
			t.Errorf("%v", err)
		}
		wantRevoked(t, lease.Context(), "ops@host")
	})
}
