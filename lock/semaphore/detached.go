package semaphore

import (
	"context"

	"github.com/lockscope/lockscope/lock"
)

// AcquireDetached is Acquire for a permit that outlives ctx, as [lock.AcquireDetached] is for a lease: ctx bounds the
// wait, and the permit's Context has the values of ctx and not its end.
func (s *Semaphore) AcquireDetached(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	if s == nil {
		return s.Acquire(ctx, opts...) // the error
	}
	l, err := lock.AcquireDetached(ctx, slotLocker{s}, s.name, opts...)
	if err != nil {
		return nil, err
	}
	return l.(slotLease).Permit, nil
}

// slotLocker is the semaphore as a Locker, for what package lock does with any.
type slotLocker struct{ sem *Semaphore }

func (l slotLocker) Acquire(ctx context.Context, _ string, opts ...lock.AcquireOption) (lock.Lease, error) {
	p, err := l.sem.Acquire(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return slotLease{p}, nil
}

// slotLease is a permit as a Lease.
type slotLease struct{ *Permit }

func (l slotLease) Resource() string { return l.lease.Resource() }
