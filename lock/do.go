package lock

import (
	"context"
	"errors"
	"fmt"
)

// Do acquires resource, runs fn and releases the resource, even if fn panics. The context
// given to fn is the lease's: it is cancelled when the lease is lost.
//
// Do returns the error of Acquire if fn did not run, and ErrInvalidOption for a nil Locker.
// Otherwise it joins the errors of fn and of the release. If the lease was lost while fn ran,
// Do fails with ErrLost, ErrMaxHold or ErrClosed even if fn returned nil.
func Do(ctx context.Context, l Locker, resource string,
	fn func(ctx context.Context, lease Lease) error, opts ...AcquireOption,
) (err error) {
	if l == nil {
		return noLocker(resource)
	}
	lease, err := l.Acquire(ctx, resource, opts...)
	if err != nil {
		return err
	}
	defer func() {
		lost := lossOf(lease)
		err = errors.Join(err, lost)
		released := lease.Release(context.WithoutCancel(ctx))
		if lost == nil || !errors.Is(released, ErrNotHeld) {
			err = errors.Join(err, released)
		}
	}()
	return fn(lease.Context(), lease)
}

// noLocker is the error of a call for the resource on a nil Locker.
func noLocker(resource string) error {
	return fmt.Errorf("%w: %q: the Locker must not be nil", ErrInvalidOption, resource)
}

// lossOf returns why the lease ended before its release, or nil if the caller ended it.
func lossOf(lease Lease) error {
	cause := context.Cause(lease.Context())
	if errors.Is(cause, ErrLost) || errors.Is(cause, ErrMaxHold) || errors.Is(cause, ErrClosed) {
		return cause
	}
	return nil
}
