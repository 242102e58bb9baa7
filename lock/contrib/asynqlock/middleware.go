package asynqlock

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock"
)

// Middleware handles each task with the lock that key names for it, and without a lock if key returns "". opts are
// those of [lock.Locker].Acquire. With lock.MaxWait a task waits for the lock first, and keeps one of the server's
// workers busy.
//
// The handler's context ends with that of asynq and when the lease is lost. lock.HeldLeases finds the lease in it,
// which has the fencing token. The lease ends when the handler returns or panics. lock.MaxHold must be longer than the
// longest timeout of a task, which is 30 minutes unless another one is set.
//
// If another worker has the lock, the handler is not called, and asynq does with the task what held says:
//   - nil: it retries the task later. Set asynq.Config.IsFailure to [IsFailure], or it archives the task after 25;
//   - asynq.SkipRetry: it archives the task;
//   - asynq.RevokeTask: it drops the task.
//
// A task without retries is archived also if held is nil. If no quorum of nodes answers, the task fails like any other.
// It fails as well if the lease was lost, even if the handler returns nil.
func Middleware(locker lock.Locker, key func(*asynq.Task) string, held error, opts ...lock.AcquireOption,
) asynq.MiddlewareFunc {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			resource := key(task)
			if resource == "" {
				return next.ProcessTask(ctx, task)
			}
			ran := false
			err := lock.Do(ctx, detached{locker}, resource, func(_ context.Context, lease lock.Lease) error {
				ran = true
				working, stop := lock.WorkContext(ctx, lease)
				defer stop()
				return next.ProcessTask(working, task)
			}, opts...)
			if !ran && errors.Is(err, lock.ErrHeld) {
				return &heldError{err, held}
			}
			return err
		})
	}
}

// detached is a Locker whose leases do not hang on the context of Acquire.
type detached struct{ lock.Locker }

func (d detached) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return lock.AcquireDetached(ctx, d.Locker, resource, opts...)
}

// heldError is why a handler was not called.
type heldError struct{ err, do error }

func (e *heldError) Error() string {
	if e.do == nil {
		return e.err.Error()
	}
	return fmt.Sprintf("%v: %v", e.err, e.do)
}

func (e *heldError) Unwrap() []error {
	if e.do == nil {
		return []error{e.err}
	}
	return []error{e.err, e.do}
}

// IsFailure is an asynq.Config.IsFailure. It returns false for a task that was not handled because another worker has
// its lock: the retry does not count.
func IsFailure(err error) bool {
	_, held := errors.AsType[*heldError](err)
	return err != nil && !held
}

// Key names the lock of a task after its type and its payload. Tasks of one type with the same payload exclude each
// other.
func Key(task *asynq.Task) string {
	return fmt.Sprintf("%s:%.16x", task.Type(), sha256.Sum256(task.Payload()))
}
