package memlock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

var swapReaders = engine.RevokeRequest{By: "ops@host", Reason: "disk swap", Readers: true}

// reading is a process that reads the lock job.
func reading(t *testing.T, nodes memlock.Nodes, instance string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := sharing(t, newLocker(t, nodes, lock.WithInstance(instance))).RLock(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // for the nodes that the vote did not need
	return lease
}

func sharing(t *testing.T, l lock.Locker) *rwlock.RWLock {
	t.Helper()
	rw, err := rwlock.New(l, "job")
	if err != nil {
		t.Fatal(err)
	}
	return rw
}

// instances are those of the readers that a revoke has ended.
func instances(r engine.Revocation) (all []string) {
	for _, one := range r.Holders {
		all = append(all, one.Holder.Instance)
	}
	return all
}

// TestRevokeReaders: readers that are renewed end, and a writer that waits gets the lock at the promised time.
func TestRevokeReaders(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5} {
		inBubble(t, n, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
			a := reading(t, nodes, "a")
			time.Sleep(lock.DefaultTTL) // long enough for renewals
			b := reading(t, nodes, "b", lock.NoRenew(), lock.TTL(lock.DefaultTTL/2))
			granted := make(chan lock.Lease)
			go func() {
				lease, err := sharing(t, newLocker(t, nodes)).Lock(t.Context())
				if err != nil {
					t.Error(err)
				}
				granted <- lease
			}()
			synctest.Wait()
			r, err := l.Revoke(t.Context(), "job", swapReaders)
			if err != nil || r.Resource != "job" || !slices.Equal(instances(r), []string{"a", "b"}) || r.Marked != n ||
				r.Nodes != n || r.FreeIn <= 0 || r.FreeIn > lock.DefaultTTL {
				t.Fatalf("%d nodes: %+v, %v", n, r, err)
			}
			for _, one := range r.Holders {
				if !one.Held || one.Again || one.Mark.By != "ops@host" || one.Holder.Kind != lock.KindRead ||
					one.NotAfter.IsZero() {
					t.Errorf("%+v", one)
				}
			}
			if a.Context().Err() != nil || b.Context().Err() != nil {
				t.Error("a lease ended before its reader knew")
			}
			revoked := time.Now()
			lease := <-granted // the readers never release
			if took := time.Since(revoked); took > r.FreeIn+time.Second || took < r.FreeIn-2*time.Millisecond {
				t.Errorf("free after %v, promised %v", took, r.FreeIn)
			}
			wantRevoked(t, a.Context(), "ops@host")
			if !errors.Is(context.Cause(b.Context()), lock.ErrLost) { // it has expired without asking
				t.Errorf("cause %v", context.Cause(b.Context()))
			}
			time.Sleep(2 * lock.DefaultTTL)
			if lease.Context().Err() != nil {
				t.Errorf("the writer's lease ended: %v", context.Cause(lease.Context()))
			}
		})
	}
}

// TestRevokeReadersOfOneInstance leaves the others alone.
func TestRevokeReadersOfOneInstance(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		a, b, again := reading(t, nodes, "a"), reading(t, nodes, "b"), reading(t, nodes, "a")
		one := swapReaders
		one.Instance = "a"
		r, err := l.Revoke(t.Context(), "job", one)
		if err != nil || !slices.Equal(instances(r), []string{"a", "a"}) {
			t.Fatalf("%+v, %v", r, err)
		}
		<-a.Context().Done()
		<-again.Context().Done()
		wantRevoked(t, a.Context(), "ops@host")
		wantRevoked(t, again.Context(), "ops@host")
		time.Sleep(2 * lock.DefaultTTL)
		if b.Context().Err() != nil {
			t.Errorf("the other reader ended: %v", context.Cause(b.Context()))
		}
		if _, err := l.Revoke(t.Context(), "job", one); !errors.Is(err, lock.ErrNotHeld) ||
			!strings.Contains(err.Error(), `instance "a"`) {
			t.Errorf("nobody of that instance: %v", err)
		}
	})
}

// TestRevokeReadersOnAMinority: together with others such a reader keeps a writer out. It is marked on all nodes, so
// that it comes back on none.
func TestRevokeReadersOnAMinority(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		reader := reading(t, nodes, "a", lock.NoRenew())
		nodes[0].Forget()
		nodes[1].Forget()
		r, err := l.Revoke(t.Context(), "job", swapReaders)
		if err != nil || !slices.Equal(instances(r), []string{"a"}) || r.Holders[0].Held || r.FreeIn != 0 || r.Marked != 3 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := reader.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("extended: %v", err)
		}
		wantRevoked(t, reader.Context(), "ops@host")
	})
}

// TestRevokeReadersTwice keeps the first mark, and marks who came since.
func TestRevokeReadersTwice(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		a := reading(t, nodes, "a", lock.NoRenew())
		first, err := l.Revoke(t.Context(), "job", swapReaders)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		b := reading(t, nodes, "b", lock.NoRenew())
		again, err := l.Revoke(t.Context(), "job", engine.RevokeRequest{By: "another", Reason: "impatience", Readers: true})
		if err != nil || len(again.Holders) != 2 || !again.Holders[0].Again ||
			again.Holders[0].Mark != first.Holders[0].Mark || again.Holders[1].Again || again.Holders[1].Mark.By != "another" {
			t.Fatalf("%+v, %v; first %+v", again, err, first)
		}
		for lease, by := range map[lock.Lease]string{a: "ops@host", b: "another"} {
			if err := lease.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
				t.Errorf("extended: %v", err)
			}
			wantRevoked(t, lease.Context(), by)
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait() // for releases that their callers did not need
		if _, err := l.Revoke(t.Context(), "job", swapReaders); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("nobody reads: %v", err)
		}
	})
}

// TestRevokeReadersIsRefused, and the readers go on.
func TestRevokeReadersIsRefused(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		ctx := t.Context()
		if _, err := l.Revoke(ctx, "", swapReaders); !errors.Is(err, lock.ErrInvalidResource) {
			t.Errorf("no name: %v", err)
		}
		_, err := l.Revoke(ctx, "job", engine.RevokeRequest{By: "ops", Readers: true})
		if !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("no reason: %v", err)
		}
		writer, err := sharing(t, newLocker(t, nodes)).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := l.Revoke(ctx, "job", swapReaders); !errors.Is(err, lock.ErrNotHeld) ||
			!strings.Contains(err.Error(), "revoke its one holder instead") {
			t.Errorf("a writer: %v", err)
		}
		if err := writer.Release(ctx); err != nil {
			t.Fatal(err)
		}
		reader, errNo := reading(t, nodes, "a"), errors.New("no")
		refused := swapReaders
		refused.Confirm = func(seen []lock.Sighting) error {
			if len(seen) != 1 || seen[0].Holder.Instance != "a" || !seen[0].Held || seen[0].Resource != "job" {
				t.Errorf("to confirm: %+v", seen)
			}
			return errNo
		}
		if _, err := l.Revoke(ctx, "job", refused); !errors.Is(err, errNo) {
			t.Errorf("not confirmed: %v", err)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := l.Revoke(over, "job", swapReaders); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx is over: %v", err)
		}
		meanwhile, cancel := context.WithCancel(ctx)
		refused.Confirm = func([]lock.Sighting) error { cancel(); return nil }
		if _, err := l.Revoke(meanwhile, "job", refused); !errors.Is(err, context.Canceled) ||
			!strings.Contains(err.Error(), "nodes may be marked") {
			t.Errorf("ctx ended meanwhile: %v", err)
		}
		if _, err := l.Revoke(ctx, "job", swap); !errors.Is(err, errors.ErrUnsupported) ||
			!strings.Contains(err.Error(), "lockscope revoke --readers") {
			t.Errorf("Revoke of readers: %v", err)
		}
		time.Sleep(2 * lock.DefaultTTL)
		if reader.Context().Err() != nil {
			t.Errorf("the reader ended: %v", context.Cause(reader.Context()))
		}
	})
}

// TestRevokeReadersWithNodesMissing: a minority is not needed. If a majority is missing, the readers go on.
func TestRevokeReadersWithNodesMissing(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		reader := reading(t, nodes, "a")
		for _, n := range nodes[:3] {
			n.Freeze()
		}
		var quorum *lock.QuorumError
		_, err := l.Revoke(t.Context(), "job", swapReaders)
		if !errors.As(err, &quorum) || quorum.Op != lock.OpPeek || quorum.Granted != 2 {
			t.Errorf("three of five are frozen: %v", err)
		}
		nodes.Recover()
		late := swapReaders
		late.Confirm = func([]lock.Sighting) error { nodes.NoQuorum(); return nil }
		_, err = l.Revoke(t.Context(), "job", late)
		if !errors.As(err, &quorum) || quorum.Op != lock.OpRevoke || quorum.Granted != 2 || quorum.Quorum != 3 {
			t.Errorf("three of five went down before they were marked: %v", err)
		}
		nodes.Recover()
		time.Sleep(3 * lock.DefaultTTL)
		if reader.Context().Err() != nil {
			t.Errorf("a minority was marked, and the reader ended: %v", context.Cause(reader.Context()))
		}
		nodes[4].Freeze()
		nodes[3].Forget()
		if r, err := l.Revoke(t.Context(), "job", swapReaders); err != nil || r.Marked != 4 {
			t.Errorf("one of five is frozen, and one has forgotten: %+v, %v", r, err)
		}
		<-reader.Context().Done()
		wantRevoked(t, reader.Context(), "ops@host")
	})
}

// TestRevokeReadersThatHaveReleased finds nobody to revoke, and leaves who came since alone.
func TestRevokeReadersThatHaveReleased(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, nodes memlock.Nodes, l *memlock.Locker) {
		a := reading(t, nodes, "a")
		var b lock.Lease
		late := swapReaders
		late.Confirm = func([]lock.Sighting) error {
			err := a.Release(t.Context())
			synctest.Wait()
			b = reading(t, nodes, "b")
			return err
		}
		if r, err := l.Revoke(t.Context(), "job", late); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%+v, %v", r, err)
		}
		time.Sleep(2 * lock.DefaultTTL)
		if b.Context().Err() != nil {
			t.Errorf("the next reader ended: %v", context.Cause(b.Context()))
		}
	})
}
