package lock

import (
	"context"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// AcquireDetached acquires a lease for work that may go on after ctx has ended, as in an orderly shutdown: ctx bounds the
// wait, but not the lease. The lease's Context has the values of ctx and ends with the lease, not with ctx. Release the
// lease when the work has ended, and set [MaxHold] in case the work hangs.
//
// AcquireDetached fails as [Locker].Acquire does, and with ErrInvalidOption for a nil Locker. If ctx ends while the lease
// is granted, it gives the lease back and returns a *WaitError.
func AcquireDetached(ctx context.Context, l Locker, resource string, opts ...AcquireOption) (Lease, error) {
	if l == nil {
		return nil, noLocker(resource)
	}
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, func() { cancel(carried.Ended{By: carried.Why(ctx)}) })
	lease, err := l.Acquire(waiting, resource, opts...)
	if err != nil {
		detach()
		cancel(nil)
		return nil, err
	}
	if !detach() {
		_ = lease.Release(waiting)
		return nil, &WaitError{Resource: resource, Attempts: 1, Err: carried.Why(ctx)}
	}
	return lease, nil
}

// WorkContext returns a context for work under a lease from [AcquireDetached]. It has the values of the lease's Context
// and the deadline of ctx, and ends when either of the two ends; [context.Cause] says why. Call stop when the work has
// ended: it ends the context but not the lease, and may be called twice.
func WorkContext(ctx context.Context, lease Lease) (working context.Context, stop context.CancelFunc) {
	working, cancel := context.WithCancelCause(lease.Context())
	detach := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	release := func() {}
	if deadline, ok := ctx.Deadline(); ok {
		working, release = context.WithDeadline(working, deadline)
	}
	return working, func() {
		detach()
		release()
		cancel(nil)
	}
}
