package run

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// wanted is what the flags ask for, as a locker: the lock, one side of the read/write lock, or a slot.
func (j *job) wanted(l lock.Locker) (lock.Locker, error) {
	switch {
	case j.slots > 0:
		s, err := semaphore.New(l, j.name, j.slots)
		return slots{s, j.name}, err
	case j.shared || j.exclusive:
		rw, err := rwlock.New(l, j.name)
		return side{rw, j.shared}, err
	}
	return l, nil
}

// slots gives permits as leases.
type slots struct {
	semaphore *semaphore.Semaphore
	name      string
}

// Acquire implements lock.Locker.
func (s slots) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	permit, err := s.semaphore.Acquire(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return slot{permit, s.name}, nil
}

// slot is a permit with the name of its semaphore.
type slot struct {
	*semaphore.Permit
	name string
}

// Resource implements lock.Lease.
func (s slot) Resource() string { return s.name }

// slotOf is the number of the slot that a lease is for; -1 for a lock.
func slotOf(l lock.Lease) int {
	if s, ok := l.(slot); ok {
		return s.Slot()
	}
	return -1
}

// side is one side of a read/write lock.
type side struct {
	lock   *rwlock.RWLock
	shared bool
}

// Acquire implements lock.Locker.
func (s side) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if s.shared {
		return s.lock.RLock(ctx, opts...)
	}
	return s.lock.Lock(ctx, opts...)
}
