package certmagiclock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/lockscope/lockscope/lock"
)

// maxHold is longer than the 30 days for which certmagic tries to obtain a certificate, under one lock.
const maxHold = 31 * 24 * time.Hour

// Storage is a storage of certmagic with locks of lockscope. It implements certmagic.TryLocker and
// certmagic.LockLeaseRenewer. Its methods are safe for concurrent use.
type Storage struct {
	certmagic.Storage

	locker lock.Locker
	opts   []lock.AcquireOption

	mu   sync.Mutex
	held map[string]*holding // by name, until Unlock
}

// holding is a lock between Lock and Unlock. Its lease may be over before.
type holding struct {
	lease    lock.Lease // Storage.mu protects it
	unlocked chan struct{}
}

// NewStorage returns storage with the locks of locker instead of its own. All processes that share the storage need
// this at once: its own locks do not exclude these. The resources are the names that certmagic gives to its locks, such
// as "issue_cert_example.com".
//
// opts are those of [lock.Locker].Acquire. The default of lock.MaxHold is 31 days here, because certmagic tries for 30
// days to obtain a certificate. A shorter one lets other processes try in the meantime.
func NewStorage(storage certmagic.Storage, locker lock.Locker, opts ...lock.AcquireOption) *Storage {
	return &Storage{
		Storage: storage, locker: locker, held: make(map[string]*holding),
		opts: append([]lock.AcquireOption{lock.MaxHold(maxHold)}, opts...),
	}
}

// String names the storage, for certmagic's log.
func (s *Storage) String() string { return fmt.Sprintf("%v with locks of lockscope", s.Storage) }

// Lock waits for the lock until ctx ends, and fails as [lock.Locker].Acquire does. The lock is renewed until Unlock,
// also after ctx has ended. Callers of one process wait for each other, too.
func (s *Storage) Lock(ctx context.Context, name string) error {
	lease, err := lock.AcquireDetached(ctx, s.locker, name, s.opts...)
	if err != nil {
		return err
	}
	for {
		before := s.enter(name, lease)
		if before == nil {
			return nil
		}
		select {
		case <-before.unlocked:
		case <-lease.Context().Done():
			return errors.Join(context.Cause(lease.Context()), lease.Release(context.WithoutCancel(ctx)))
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), lease.Release(context.WithoutCancel(ctx)))
		}
	}
}

// enter returns nil if the caller has the name now. Otherwise another caller of this process has lost its lease and not
// called Unlock yet. As Unlock has only a name, it would end the lease of the wrong one.
func (s *Storage) enter(name string, lease lock.Lease) (before *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[name]; h != nil {
		return h
	}
	s.held[name] = &holding{lease, make(chan struct{})}
	return nil
}

// TryLock is Lock without a wait. It returns false if the lock is held, and an error if no quorum of nodes answers.
func (s *Storage) TryLock(ctx context.Context, name string) (bool, error) {
	lease, err := s.acquireNow(ctx, name)
	if errors.Is(err, lock.ErrHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if s.enter(name, lease) != nil {
		return false, lease.Release(context.WithoutCancel(ctx))
	}
	return true, nil
}

// Unlock releases the lock, in any goroutine and also if ctx has ended. It returns an error that matches
// lock.ErrNotHeld if the lock was lost before, or if Lock was not called.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	h := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if h == nil {
		return notHeld(name)
	}
	close(h.unlocked)
	return h.lease.Release(context.WithoutCancel(ctx)) // nobody writes h.lease any more
}

// RenewLockLease makes sure that this process has the lock. It asks the nodes, and if the lock was lost it takes it
// again. It fails if another process has the lock, or if no quorum of nodes answers. certmagic then tries later. The
// duration is ignored, because the lock is renewed until Unlock.
func (s *Storage) RenewLockLease(ctx context.Context, name string, _ time.Duration) error {
	s.mu.Lock()
	h, lost := s.held[name], lock.Lease(nil)
	if h != nil {
		lost = h.lease
	}
	s.mu.Unlock()
	if h == nil {
		return notHeld(name)
	}
	if err := lost.Extend(ctx); err == nil || lost.Context().Err() == nil {
		return err
	}
	_ = lost.Release(context.WithoutCancel(ctx)) // it says that it is lost
	lease, err := s.acquireNow(ctx, name)
	if err != nil {
		return err
	}
	if !s.replace(name, h, lease) {
		return errors.Join(notHeld(name), lease.Release(context.WithoutCancel(ctx)))
	}
	return nil
}

// replace reports false if Unlock was called meanwhile.
func (s *Storage) replace(name string, h *holding, lease lock.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] != h {
		return false
	}
	h.lease = lease
	return true
}

func (s *Storage) acquireNow(ctx context.Context, name string) (lock.Lease, error) {
	return lock.AcquireDetached(ctx, s.locker, name, append(s.opts[:len(s.opts):len(s.opts)], lock.NoWait())...)
}

func notHeld(name string) error {
	return fmt.Errorf("certmagiclock: %q: %w by this process: call Lock first", name, lock.ErrNotHeld)
}
