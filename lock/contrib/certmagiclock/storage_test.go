package certmagiclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/certmagiclock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var _ interface {
	certmagic.Storage
	certmagic.TryLocker
	certmagic.LockLeaseRenewer
} = (*certmagiclock.Storage)(nil)

func storage(t *testing.T, nodes memlock.Nodes) (*certmagiclock.Storage, *memlock.Locker) {
	locker, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, locker.Close()) })
	return certmagiclock.NewStorage(&certmagic.FileStorage{Path: t.TempDir()}, locker), locker
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestUnlock: with another context, in another goroutine, and after the context of Lock has ended and an hour has
// passed.
func TestUnlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		first, _ := storage(t, nodes)
		second, _ := storage(t, nodes)
		ctx, cancel := context.WithCancel(t.Context())
		must(t, first.Lock(ctx, "a"))
		cancel()
		<-time.After(2 * time.Hour)
		if ok, err := second.TryLock(t.Context(), "a"); ok || err != nil {
			t.Errorf("another process: %v, %v", ok, err)
		}
		done := make(chan error)
		go func() { done <- first.Unlock(ended(), "a") }()
		must(t, <-done)
		if ok, err := second.TryLock(t.Context(), "a"); !ok || err != nil {
			t.Errorf("it is free: %v, %v", ok, err)
		}
		must(t, second.Unlock(t.Context(), "a"))
		if err := second.Unlock(t.Context(), "a"); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("not locked: %v", err)
		}
		if err := second.RenewLockLease(t.Context(), "a", time.Hour); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("not locked: %v", err)
		}
		if err := first.Lock(ended(), "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("the context has ended: %v", err)
		}
	})
}

// TestSecondLock: two callers of one process exclude each other, also if the first has lost its lease: Unlock has only
// a name, and would end the lease of the other.
func TestSecondLock(t *testing.T) {
	for name, lose := range map[string]bool{"the first holds": false, "the first has lost it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, locker := storage(t, memlock.NewNodes(3))
				must(t, s.Lock(t.Context(), "a"))
				if lose {
					must(t, locker.Lose("a"))
				}
				if ok, err := s.TryLock(t.Context(), "a"); ok || err != nil {
					t.Errorf("TryLock: %v, %v", ok, err)
				}
				short, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := s.Lock(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a second Lock: %v", err)
				}
				second := make(chan error, 1)
				go func() { second <- s.Lock(t.Context(), "a") }()
				<-time.After(5 * time.Minute)
				if err := s.Unlock(t.Context(), "a"); errors.Is(err, lock.ErrNotHeld) != lose {
					t.Errorf("the first ends with %v", err)
				}
				must(t, <-second)
				must(t, s.RenewLockLease(t.Context(), "a", time.Hour))
				must(t, s.Unlock(t.Context(), "a"))
			})
		})
	}
}

// TestRenew: it takes a lock again that was lost, if no other process has it.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		s, locker := storage(t, nodes)
		other, _ := storage(t, nodes)
		must(t, s.Lock(t.Context(), "a"))
		must(t, s.RenewLockLease(t.Context(), "a", time.Hour))
		must(t, locker.Lose("a"))
		must(t, other.Lock(t.Context(), "a"))
		if err := s.RenewLockLease(t.Context(), "a", time.Hour); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("another process has it: %v", err)
		}
		must(t, other.Unlock(t.Context(), "a"))
		must(t, s.RenewLockLease(t.Context(), "a", time.Hour))
		if ok, err := other.TryLock(t.Context(), "a"); ok || err != nil {
			t.Errorf("it was taken again: %v, %v", ok, err)
		}
		nodes.NoQuorum()
		if err := s.RenewLockLease(t.Context(), "a", time.Hour); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("no quorum: %v", err)
		}
		nodes.Recover()
		must(t, s.Unlock(t.Context(), "a"))
	})
}

// TestNoQuorum: certmagic is not told that it has the lock.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		s := certmagiclock.NewStorage(&certmagic.FileStorage{Path: t.TempDir()}, l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Lock(ctx, "a"); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("Lock: %v", err)
		}
		if ok, err := s.TryLock(t.Context(), "a"); ok || !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("TryLock: %v, %v", ok, err)
		}
		if err := s.Unlock(t.Context(), "a"); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("Unlock: %v", err)
		}
	})
}
