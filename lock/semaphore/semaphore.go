package semaphore

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Semaphore is a number of permits that processes share. Its methods are safe for concurrent use. Make it with [New]:
// Acquire of the zero value fails with lock.ErrInvalidOption.
type Semaphore struct {
	locker lock.Locker
	name   string
	slots  int
}

// New returns the semaphore of that name with k slots. It sends nothing.
//
// New fails with lock.ErrInvalidOption if locker is nil or k is not in 1 to 100, and with
// lock.ErrInvalidResource if a slot cannot have a name, which is name, "#" and the number of the slot, or if name is that
// of a slot itself.
func New(locker lock.Locker, name string, k int) (*Semaphore, error) {
	if locker == nil {
		return nil, fmt.Errorf("%w: semaphore %q: the Locker must not be nil", lock.ErrInvalidOption, name)
	}
	if err := records.ValidateSemaphore(name, k); err != nil {
		return nil, err
	}
	return &Semaphore{locker: locker, name: name, slots: k}, nil
}

// Name returns the name of the semaphore.
func (s *Semaphore) Name() string { return s.name }

// Slots returns the number of slots.
func (s *Semaphore) Slots() int { return s.slots }

// Acquire waits for a permit. opts are those of [lock.Locker].Acquire, with [lock.Slots] added: lock.NoWait makes one attempt
// at each slot, and lock.MaxAttempts counts looks at all slots.
//
// When ctx ends while the call waits, the call leaves the queue and holds nothing. When ctx ends later, so does the
// permit.
//
// Acquire fails with
//   - *lock.FullError, which matches lock.ErrHeld and names the holders, if all slots are held and the call does not wait
//     (any longer);
//   - *lock.WaitError if the wait was cut short. It wraps the reason and mostly a *lock.FullError;
//   - *lock.SlotsError if a majority of the nodes knows another number of slots, or a holder uses another one;
//   - errors.ErrUnsupported if the Locker knows nothing of slots;
//   - the other errors of lock.Locker, such as *lock.QuorumError, with the name of the slot.
func (s *Semaphore) Acquire(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	return s.acquire(ctx, opts, func(l lock.Locker, opts ...lock.AcquireOption) (lock.Lease, error) {
		return l.Acquire(ctx, s.name, opts...)
	})
}

// AcquireDetached is Acquire for a permit that outlives ctx, as [lock.AcquireDetached] is for a lease: ctx bounds the
// wait, and the permit's Context has the values of ctx and not its end.
func (s *Semaphore) AcquireDetached(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	return s.acquire(ctx, opts, func(l lock.Locker, opts ...lock.AcquireOption) (lock.Lease, error) {
		return lock.AcquireDetached(ctx, l, s.name, opts...)
	})
}

// TryAcquire is Acquire with [lock.NoWait]: it returns a *lock.FullError if no slot is free.
func (s *Semaphore) TryAcquire(ctx context.Context, opts ...lock.AcquireOption) (*Permit, error) {
	return s.Acquire(ctx, append(opts[:len(opts):len(opts)], lock.NoWait())...)
}

func (s *Semaphore) acquire(ctx context.Context, opts []lock.AcquireOption,
	from func(lock.Locker, ...lock.AcquireOption) (lock.Lease, error),
) (*Permit, error) {
	if s == nil || s.locker == nil {
		return nil, fmt.Errorf("%w: semaphore: make the Semaphore with New", lock.ErrInvalidOption)
	}
	lease, err := from(s.locker, append(opts[:len(opts):len(opts)], lock.Slots(s.slots))...)
	if err != nil {
		return nil, s.failed(err)
	}
	name, slot, ok := records.ParseSlot(lease.Resource())
	if !ok || name != s.name {
		_ = lease.Release(context.WithoutCancel(ctx)) // its TTL ends it otherwise
		return nil, fmt.Errorf("semaphore %q: %T knows nothing of slots: %w", s.name, s.locker, errors.ErrUnsupported)
	}
	return &Permit{lease: lease, slot: slot}, nil
}

// failed names the semaphore in an error that does not.
func (s *Semaphore) failed(err error) error {
	_, full := errors.AsType[*lock.FullError](err)
	_, slots := errors.AsType[*lock.SlotsError](err)
	_, cut := errors.AsType[*lock.WaitError](err)
	if full || slots || cut {
		return err
	}
	return fmt.Errorf("semaphore %q: %w", s.name, err)
}
