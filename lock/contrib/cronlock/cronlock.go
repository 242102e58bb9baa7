// Package cronlock runs each job of github.com/robfig/cron/v3 in one process of a fleet.
//
//	c := cron.New()
//	_, err := c.AddJob("0 3 * * *", cronlock.New(locker, "report", cron.DefaultLogger,
//		func(ctx context.Context, lease lock.Lease) error {
//			return report(ctx) // until ctx ends: the lease is lost then
//		}, lock.MaxHold(time.Hour)))
//
// [Wrap] does the same for jobs that are there already, in a cron.Chain. They are not told that the lock is lost.
//
// The lock of a job that takes a millisecond is free again before the clock of another process says that it is time.
// Then that process also runs the job. With lock.MinHold among opts it does not: give it a time that is longer than the
// clocks differ, and shorter than the interval of the job.
package cronlock

import (
	"context"
	"errors"

	"github.com/robfig/cron/v3"

	"github.com/lockscope/lockscope/lock"
)

// New returns a job that runs fn with the lock of that name, and skips the run if another process has it. opts are
// those of [lock.Locker].Acquire. With lock.MaxWait a run waits that long for the lock first.
//
// logger gets each run that is skipped, as Info, and each one that fails, as Error: fn failed, the lease was lost, or no
// quorum of nodes answered. If fn panics, the lock is released and the panic goes on.
func New(locker lock.Locker, name string, logger cron.Logger,
	fn func(ctx context.Context, lease lock.Lease) error, opts ...lock.AcquireOption,
) cron.Job {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	return cron.FuncJob(func() {
		ran := false
		err := lock.Do(context.Background(), locker, name, func(ctx context.Context, lease lock.Lease) error {
			ran = true
			return fn(ctx, lease)
		}, opts...)
		switch {
		case err == nil:
		case !ran && errors.Is(err, lock.ErrHeld):
			logger.Info("skip", "job", name, "reason", err)
		default:
			logger.Error(err, "job failed", "job", name)
		}
	})
}

// Wrap is New for a job that does not take a context, for cron.NewChain.
func Wrap(locker lock.Locker, name string, logger cron.Logger, opts ...lock.AcquireOption) cron.JobWrapper {
	return func(job cron.Job) cron.Job {
		return New(locker, name, logger, func(context.Context, lock.Lease) error {
			job.Run()
			return nil
		}, opts...)
	}
}
