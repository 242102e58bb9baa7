package redsynclock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
)

// Mutexes replaces a *redsync.Redsync in code that calls NewMutex.
type Mutexes struct{ locker lock.Locker }

// Over returns Mutexes that lock through l. If l is decorated, its metrics, traces and pages cover the
// mutexes.
func Over(l lock.Locker) *Mutexes { return &Mutexes{locker: l} }

// NewMutex returns a mutex, as redsync's NewMutex does. Of the options, WithExpiry and WithTries have an
// effect here. The Locker sets the pause between tries: at most [DefaultPollInterval]. With any other option,
// Lock fails with lock.ErrInvalidOption: give it to [WithMutexOptions].
func (m *Mutexes) NewMutex(name string, options ...redsync.Option) *Mutex {
	return &Mutex{locker: m.locker, name: name, observed: observe(options), refused: ignored(options, mutexIgnores)}
}

// Mutex has the methods of a *redsync.Mutex except Value. Its errors match those of redsync and of
// package lock. Unlike redsync's, it is safe for concurrent use.
type Mutex struct {
	locker lock.Locker
	name   string
	observed
	refused error // of options without an effect; nil if there are none

	mu    sync.Mutex
	lease lock.Lease // of the last Lock that succeeded; nil before
	until time.Time
}

// Name returns the name of the mutex: the resource.
func (m *Mutex) Name() string { return m.name }

// Until returns when the lock stops being valid unless it is extended; the zero time before the first
// lock.
func (m *Mutex) Until() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.until
}

// Lock is LockContext without a context.
func (m *Mutex) Lock() error { return m.LockContext(context.Background()) }

// LockContext locks m, with at most WithTries tries. The end of ctx ends the wait but not the lock. As
// in redsync, the lock is not renewed: call ExtendContext. If the lock is held, Nodes of the *redsync.ErrTaken has the
// pools that refused, unless the Locker is not one of this package.
func (m *Mutex) LockContext(ctx context.Context) error {
	return m.lock(ctx, lock.MaxAttempts(m.tries))
}

// TryLock is TryLockContext without a context.
func (m *Mutex) TryLock() error { return m.TryLockContext(context.Background()) }

// TryLockContext tries once.
func (m *Mutex) TryLockContext(ctx context.Context) error { return m.lock(ctx, lock.NoWait()) }

func (m *Mutex) lock(ctx context.Context, opts ...lock.AcquireOption) error {
	if m.refused != nil {
		return failed(m.refused, nil)
	}
	if m.locker == nil {
		return failed(fmt.Errorf("%w: redsynclock: mutex %q: the Locker given to Over must not be nil",
			lock.ErrInvalidOption, m.name), nil)
	}
	taken := new(takenPools)
	lease, err := lock.AcquireDetached(context.WithValue(ctx, takenKey{}, taken), m.locker, m.name,
		append(opts, lock.TTL(m.expiry), lock.NoRenew())...)
	if err != nil {
		return failed(err, taken)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lease, m.until = lease, time.Now().Add(lease.Remaining())
	return nil
}

// failed adds the errors that callers of redsync test for.
func failed(err error, taken *takenPools) error {
	if errors.Is(err, lock.ErrHeld) {
		return fmt.Errorf("%w: %w: %w", redsync.ErrFailed, &redsync.ErrTaken{Nodes: taken.list()}, err)
	}
	return fmt.Errorf("%w: %w", redsync.ErrFailed, err)
}

// Unlock is UnlockContext without a context.
func (m *Mutex) Unlock() (bool, error) { return m.UnlockContext(context.Background()) }

// UnlockContext gives the lock back. It returns false and an error if the lock was no longer held, or if
// that is unknown.
func (m *Mutex) UnlockContext(ctx context.Context) (bool, error) {
	m.mu.Lock()
	lease := m.lease
	m.lease = nil
	m.mu.Unlock()
	if lease == nil {
		return false, redsync.ErrLockAlreadyExpired
	}
	err := lease.Release(ctx)
	if errors.Is(err, lock.ErrNotHeld) {
		err = fmt.Errorf("%w: %w", redsync.ErrLockAlreadyExpired, err)
	}
	return err == nil, err
}

// Extend is ExtendContext without a context.
func (m *Mutex) Extend() (bool, error) { return m.ExtendContext(context.Background()) }

// ExtendContext extends the lock for another expiry. It returns false and an error if that failed.
func (m *Mutex) ExtendContext(ctx context.Context) (bool, error) {
	m.mu.Lock()
	lease := m.lease
	m.mu.Unlock()
	if lease == nil {
		return false, redsync.ErrExtendFailed
	}
	if err := lease.Extend(ctx); err != nil {
		return false, fmt.Errorf("%w: %w", redsync.ErrExtendFailed, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Now().Add(lease.Remaining())
	return true, nil
}

// Valid reports whether the lock is valid, by the local clock. It asks no server.
func (m *Mutex) Valid() (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lease != nil && m.lease.Remaining() > 0, nil
}

// ValidContext is Valid.
func (m *Mutex) ValidContext(context.Context) (bool, error) { return m.Valid() }
