package world

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

const shelf = "shelf" // a read/write lock

// share returns what one of two processes does with the read/write lock: the first reads for as long as given, the
// second writes.
func (c *constructs) share(l lock.Locker, i int, read time.Duration) (func(context.Context), error) {
	rw, err := rwlock.New(l, shelf)
	if err != nil {
		return nil, err
	}
	acquire, lasts := rw.Lock, regularly
	if i == 0 {
		acquire, lasts = rw.RLock, read
	}
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			if lease, err := acquire(ctx); err == nil {
				wait(ctx, lease.Context().Done(), lasts)
				_ = lease.Release(context.WithoutCancel(ctx))
			}
			wait(ctx, nil, now)
		}
	}, nil
}
