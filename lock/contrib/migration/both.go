package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Both returns a Locker whose leases hold two locks of the same name: one of old, then one of new. The order is fixed,
// so processes that use Both do not deadlock with each other, with users of old, or with users of new.
//
// A lease is held while both locks are. Its context descends from both and ends when the first of them does, with that
// lock's cause. Its token is the new lock's, and its remaining time the shorter one. Extend extends both, and Release
// releases the new lock, then the old one; both return the joined errors. If one lock is lost, the other one stays
// until Release, until the context given to Acquire ends, or until MaxHold.
//
// Options apply to both locks, except that MaxWait bounds the two waits together and Fenced concerns the new lock only.
// The defaults of each Locker stay its own. If the new lock cannot be acquired, Acquire has given the old one back.
// Errors say which of the two locks failed, and wrap its error.
//
// Both has read/write locks if old and new have. It has no semaphores, whose slots the two locks would choose
// differently: Acquire of one fails with errors.ErrUnsupported. Use new alone for them.
//
// The Locker is safe for concurrent use. It does not close old or new.
func Both(old, new lock.Locker) lock.Locker { return &both{old: old, new: new} }

type both struct{ old, new lock.Locker }

// Acquire implements lock.Locker.
func (b *both) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if b.old == nil || b.new == nil {
		return nil, fmt.Errorf("%w: migration: Both needs two Lockers, and one is nil", lock.ErrInvalidOption)
	}
	if lock.NewAcquireOptions(opts...).Kind == lock.KindSemaphore {
		return nil, fmt.Errorf("migration: Both has no semaphores: %w: make %q on the new Locker alone",
			errors.ErrUnsupported, resource)
	}
	opts = opts[:len(opts):len(opts)]
	began := time.Now()
	old, err := b.old.Acquire(ctx, resource, slices.DeleteFunc(slices.Clone(opts), fences)...)
	if err != nil {
		return nil, fmt.Errorf("old lock: %w", err)
	}
	if limit := lock.NewAcquireOptions(opts...).MaxWait; limit > 0 {
		// Not 0, which would be no limit: a lock that is free is still acquired.
		opts = append(opts, lock.MaxWait(max(limit-time.Since(began), time.Nanosecond)))
	}
	lease, err := b.new.Acquire(old.Context(), resource, opts...)
	if err != nil {
		return nil, giveUp(ctx, old, err)
	}
	return &bothLease{Lease: lease, old: old}, nil
}

// fences reports whether the option is lock.Fenced, which the old lock does not get: it may have no tokens.
func fences(o lock.AcquireOption) bool { return lock.NewAcquireOptions(o).Fenced }

// giveUp releases the old lock because Acquire of the new one failed with err.
func giveUp(ctx context.Context, old lock.Lease, err error) error {
	what := "new lock"
	lost := context.Cause(old.Context())
	if lost != nil && ctx.Err() == nil {
		what, err = "old lock ended while waiting for the new one", errors.Join(lost, err)
	}
	released := old.Release(context.WithoutCancel(ctx))
	if lost != nil && errors.Is(released, lock.ErrNotHeld) {
		released = nil // it is no news
	}
	return errors.Join(fmt.Errorf("%s: %w", what, err), released)
}

// bothLease is the new lease, acquired in the context of the old one.
type bothLease struct {
	lock.Lease
	old lock.Lease

	mu       sync.Mutex
	released bool
	err      error // of the first Release
}

// Remaining returns the shorter of both.
func (l *bothLease) Remaining() time.Duration { return min(l.old.Remaining(), l.Lease.Remaining()) }

// Extend extends both locks.
func (l *bothLease) Extend(ctx context.Context) error {
	return errors.Join(named("old lock", l.old.Extend(ctx)), named("new lock", l.Lease.Extend(ctx)))
}

// Release releases the new lock, then the old one, whatever became of the first. Further calls return the same.
func (l *bothLease) Release(ctx context.Context) error {
	newErr := named("new lock", l.Lease.Release(ctx))
	err := errors.Join(newErr, named("old lock", l.old.Release(ctx)))
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		l.released, l.err = true, err
	}
	return l.err
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
