package gocronlock

import (
	"context"

	"github.com/go-co-op/gocron/v2"

	"github.com/lockscope/lockscope/lock"
)

// NewLocker returns a locker for gocron.WithDistributedLocker and gocron.WithDistributedJobLocker. The resource of a
// job is its name: give jobs names that no other job of the fleet has.
//
// A run is skipped if another process holds the lock or no quorum of nodes answers; gocron passes the error to
// gocron.AfterLockError. With lock.MaxWait among opts, a run waits that long for the lock first. lock.MaxHold bounds
// how long a job that hangs keeps it.
func NewLocker(locker lock.Locker, opts ...lock.AcquireOption) gocron.Locker {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	return jobs{locker, opts}
}

type jobs struct {
	locker lock.Locker
	opts   []lock.AcquireOption
}

// Lock ends with ctx. What it returns does not.
func (j jobs) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := lock.AcquireDetached(ctx, j.locker, key, j.opts...)
	if err != nil {
		return nil, err
	}
	return run{lease}, nil
}

// run is the lock of one run of a job.
type run struct{ lease lock.Lease }

// Unlock gives the lock back, also if ctx has ended, as it has where the scheduler shuts down.
func (r run) Unlock(ctx context.Context) error {
	return r.lease.Release(context.WithoutCancel(ctx))
}
