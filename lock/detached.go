package lock

import "context"

// AcquireDetached acquires a lease for work that may go on after ctx has ended, as in an orderly shutdown: ctx bounds the
// wait, and not the lease. The lease's Context has the values of ctx. It ends with the lease, not with ctx: release the
// lease when the work has ended, and set [MaxHold] against work that hangs.
//
// AcquireDetached fails as [Locker].Acquire does, and with ErrInvalidOption for a nil Locker.
// If ctx ends while the lease is granted, it gives the lease back and
// returns a *WaitError.
func AcquireDetached(ctx context.Context, l Locker, resource string, opts ...AcquireOption) (Lease, error) {
	if l == nil {
		return nil, noLocker(resource)
	}
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	lease, err := l.Acquire(waiting, resource, opts...)
	if err != nil {
		detach()
		cancel(nil)
		return nil, err
	}
	if !detach() {
		_ = lease.Release(waiting)
		return nil, &WaitError{Resource: resource, Attempts: 1, Err: context.Cause(ctx)}
	}
	return lease, nil
}

// WorkContext is the context of work under a lease that was acquired with [AcquireDetached]. It has the values of the
// lease's Context, and ends with that or with ctx, whichever is first; [context.Cause] says why. It has the deadline of
// ctx. Call stop when the work has ended: it ends the context, leaves the lease, and may be called twice.
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
