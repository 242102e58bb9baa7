package lock

import (
	"context"
	"errors"
)

// Do runs fn while holding resource and releases it afterwards, also if fn
// panics. The context given to fn is the lease's: it is cancelled when the lease
// is lost. Do returns the error of fn joined with that of the release; a lease
// lost while fn ran makes Do fail with ErrLost even if fn returned nil.
func Do(ctx context.Context, l Locker, resource string,
	fn func(ctx context.Context, lease Lease) error, opts ...AcquireOption,
) (err error) {
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

// lossOf is the cause the lease ended with before its release, if that was not
// the caller's own doing.
func lossOf(lease Lease) error {
	cause := context.Cause(lease.Context())
	if errors.Is(cause, ErrLost) || errors.Is(cause, ErrMaxHold) || errors.Is(cause, ErrClosed) {
		return cause
	}
	return nil
}
