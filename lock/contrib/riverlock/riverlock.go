// Package riverlock makes clients of github.com/riverqueue/river in several processes work one job for a key at a time.
//
//	client, err := river.NewClient(driver, &river.Config{
//		Plugins: []rivertype.Plugin{riverlock.New(locker, riverlock.Key, nil, lock.MaxHold(time.Hour))},
//	})
//
// # What River does and does not do
//
// River inserts periodic jobs in one process: its own leader. Its unique jobs keep duplicates out of the queue. Neither
// keeps two jobs from running at the same time. A periodic job that takes longer than its period runs beside the next
// one. So does a job beside itself, once River takes it for stuck: after an hour, unless RescueStuckJobsAfter is set.
//
// The context of a job ends when the client stops and when the job is cancelled. Its worker may still write then. A
// lock that hangs on this context is another worker's meanwhile. The locks of this package end when the worker returns.
//
// River works a job at least once, and checks no fencing token. Pass the lease's to the storage that the worker writes
// to. If that is River's own database, one transaction that completes the job and writes needs no lock.
package riverlock

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lockscope/lockscope/lock"
)

// Snooze is how long a job waits before its next try if another worker has its lock, unless held says otherwise.
const Snooze = 5 * time.Second

// New returns a middleware that works each job with the lock that key names for it, and without a lock if key returns
// "". opts are those of [lock.Locker].Acquire. With lock.MaxWait a job waits for the lock first, and keeps one of the
// client's workers busy.
//
// The worker's context ends with that of River and when the lease is lost. lock.HeldLeases finds the lease in it, which
// has the fencing token. The lease ends when the worker returns or panics. lock.MaxHold bounds a worker that hangs.
//
// If another worker has the lock, the job is not worked, and River does with it what held says:
//   - nil: it tries again after [Snooze], which is not counted as an attempt;
//   - river.JobSnooze(d): it tries again after d, which is not counted either;
//   - river.JobCancel(err): it drops the job.
//
// If no quorum of nodes answers, the job fails like any other. It fails as well if the lease was lost, even if the
// worker returns nil.
func New(locker lock.Locker, key func(*rivertype.JobRow) string, held error, opts ...lock.AcquireOption,
) river.WorkerMiddlewareFunc {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	if held == nil {
		held = river.JobSnooze(Snooze)
	}
	return func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		resource := key(job)
		if resource == "" {
			return work(ctx)
		}
		ran := false
		err := lock.Do(ctx, detached{locker}, resource, func(_ context.Context, lease lock.Lease) error {
			ran = true
			working, stop := lock.WorkContext(ctx, lease)
			defer stop()
			return work(working)
		}, opts...)
		if !ran && errors.Is(err, lock.ErrHeld) {
			return errors.Join(held, err)
		}
		return err
	}
}

// detached is a Locker whose leases do not hang on the context of Acquire.
type detached struct{ lock.Locker }

func (d detached) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return lock.AcquireDetached(ctx, d.Locker, resource, opts...)
}

// Key names the lock of a job after its kind and its arguments. Jobs of one kind with the same arguments exclude each
// other.
func Key(job *rivertype.JobRow) string {
	return fmt.Sprintf("%s:%.16x", job.Kind, sha256.Sum256(job.EncodedArgs))
}
