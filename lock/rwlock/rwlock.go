package rwlock

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// ErrUpgrade means that a caller which holds the read lock asked for the write lock of the same name, with a context
// that descends from the read lease's. Two such callers would wait for each other. Nothing was sent.
var ErrUpgrade = carried.ErrUpgrade

// RWLock is a read/write lock that processes share. It has no state of its own: make one wherever you need it. Its
// methods are safe for concurrent use. Make it with [New]: locking the zero value fails with lock.ErrInvalidOption.
type RWLock struct {
	locker lock.Locker
	name   string
}

// New returns the read/write lock of that name. It sends nothing.
//
// New fails with lock.ErrInvalidOption if locker is nil, and with lock.ErrInvalidResource if the name is not allowed. If
// the locker's driver has no read/write locks, each call fails with an error that matches errors.ErrUnsupported. A
// Locker that ignores lock.InMode makes readers exclude one another.
func New(locker lock.Locker, name string) (*RWLock, error) {
	if locker == nil {
		return nil, fmt.Errorf("%w: rwlock %q: the Locker must not be nil", lock.ErrInvalidOption, name)
	}
	if err := lock.ValidateResource(name); err != nil {
		return nil, fmt.Errorf("rwlock %q: %w", name, err)
	}
	return &RWLock{locker: locker, name: name}, nil
}

// Name returns the name of the lock.
func (l *RWLock) Name() string { return l.name }

// RLock waits until it can read: until nobody writes, and no writer that came before this call waits. The options are
// those of [lock.Locker].Acquire; lock.Fair changes nothing. The lease is that of a lock, with one difference: its
// Fence is not unique. It is at least the fence of every writer before, and other readers may have the same.
//
// RLock fails as Acquire does. A *lock.HeldError with HandedOver means that a writer waits in front.
func (l *RWLock) RLock(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return l.acquire(ctx, lock.ModeRead, opts)
}

// TryRLock is RLock with [lock.NoWait]. It also fails with a *lock.HeldError while a writer waits.
func (l *RWLock) TryRLock(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return l.acquire(ctx, lock.ModeRead, opts, lock.NoWait())
}

// Lock waits until it can write: until nobody reads or writes. Meanwhile it keeps readers out that come later. The
// options and the lease are those of [lock.Locker].Acquire. Its Fence is larger than that of every reader and writer
// before.
//
// Lock fails as Acquire does, and with [ErrUpgrade].
func (l *RWLock) Lock(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return l.acquire(ctx, lock.ModeWrite, opts)
}

// TryLock is Lock with [lock.NoWait]. It keeps no reader out.
func (l *RWLock) TryLock(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return l.acquire(ctx, lock.ModeWrite, opts, lock.NoWait())
}

// RLockDetached is RLock for a lease that outlives ctx, as [lock.AcquireDetached] is Acquire for one.
func (l *RWLock) RLockDetached(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return lock.AcquireDetached(ctx, side{l, lock.ModeRead}, l.name, opts...)
}

// LockDetached is Lock for a lease that outlives ctx.
func (l *RWLock) LockDetached(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
	return lock.AcquireDetached(ctx, side{l, lock.ModeWrite}, l.name, opts...)
}

// Read runs fn with the read lock, as lock.Do does with a lock.
func (l *RWLock) Read(ctx context.Context, fn func(ctx context.Context, lease lock.Lease) error,
	opts ...lock.AcquireOption,
) error {
	return lock.Do(ctx, side{l, lock.ModeRead}, l.name, fn, opts...)
}

// Write runs fn with the write lock, as lock.Do does with a lock.
func (l *RWLock) Write(ctx context.Context, fn func(ctx context.Context, lease lock.Lease) error,
	opts ...lock.AcquireOption,
) error {
	return lock.Do(ctx, side{l, lock.ModeWrite}, l.name, fn, opts...)
}

// side is one half of the lock as a Locker, which Do needs.
type side struct {
	lock *RWLock
	mode lock.Mode
}

// Acquire implements lock.Locker for the one resource.
func (s side) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return s.lock.acquire(ctx, s.mode, opts)
}

func (l *RWLock) acquire(ctx context.Context, mode lock.Mode, given []lock.AcquireOption, more ...lock.AcquireOption,
) (lock.Lease, error) {
	if l == nil || l.locker == nil {
		return nil, fmt.Errorf("%w: rwlock: make the RWLock with New", lock.ErrInvalidOption)
	}
	opts := append(given[:len(given):len(given)], more...)
	return l.locker.Acquire(ctx, l.name, append(opts, lock.InMode(mode))...)
}
