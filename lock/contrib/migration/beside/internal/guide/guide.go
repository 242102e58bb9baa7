// Package guide has the code of the pages in lock/contrib/migration, so that it is compiled. A test compares them.
package guide

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
)

func charge(ctx context.Context, order int) error                     { return ctx.Err() }
func chargeFenced(ctx context.Context, order int, fence uint64) error { return ctx.Err() }

func redsyncBefore(ctx context.Context, client *redis.Client) error {
	rs := redsync.New(goredis.NewPool(client))
	mutex := rs.NewMutex("order:1001")
	if err := mutex.LockContext(ctx); err != nil {
		return err
	}
	defer func() {
		if ok, err := mutex.Unlock(); !ok {
			log.Print("unlock: ", err)
		}
	}()
	return charge(ctx, 1001)
}

func redislockBefore(ctx context.Context, client *redis.Client) error {
	l, err := redislock.Obtain(ctx, client, "order:1001", 10*time.Second, &redislock.Options{
		RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond),
	})
	if errors.Is(err, redislock.ErrNotObtained) {
		return errors.New("somebody else has it")
	} else if err != nil {
		return err
	}
	defer l.Release(context.WithoutCancel(ctx))
	return charge(ctx, 1001)
}

func stringsDuring(ctx context.Context, client *redis.Client, locks lock.Locker) error {
	old, err := migration.StringKeys("", []redis.UniversalClient{client})
	if err != nil {
		return err
	}
	defer old.Close()
	both := migration.Both(old, locks) // once for the process, beside locks
	return lock.Do(ctx, both, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return charge(ctx, 1001)
	})
}

func nodeRedlockDuring(ctx context.Context, a, b, c *redis.Client, locks lock.Locker) error {
	old, err := migration.StringKeys("", []redis.UniversalClient{a, b, c})
	if err != nil {
		return err
	}
	defer old.Close()
	both := migration.Both(old, locks) // once for the process, beside locks
	return lock.Do(ctx, both, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return charge(ctx, 1001)
	})
}

func redissonDuring(ctx context.Context, client *redis.Client, locks lock.Locker) error {
	old, err := migration.RedissonKeys("", client)
	if err != nil {
		return err
	}
	defer old.Close()
	both := migration.Both(old, locks) // once for the process, beside locks
	return lock.Do(ctx, both, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return charge(ctx, 1001)
	})
}

func shedLockDuring(ctx context.Context, client *redis.Client, locks lock.Locker) error {
	old, err := migration.StringKeys("job-lock:default:", []redis.UniversalClient{client})
	if err != nil {
		return err
	}
	defer old.Close()
	both := migration.Both(old, locks) // once for the process, beside locks
	err = lock.Do(ctx, both, "nightly-report", func(ctx context.Context, lease lock.Lease) error {
		return report(ctx)
	}, lock.NoWait(), lock.MaxHold(time.Hour))
	if errors.Is(err, lock.ErrHeld) {
		return nil // another process runs the job
	}
	return err
}

func report(ctx context.Context) error { return ctx.Err() }

func after(ctx context.Context, locks lock.Locker) error {
	return lock.Do(ctx, locks, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return chargeFenced(ctx, 1001, lease.Fence())
	})
}

func shedLockAfter(ctx context.Context, locks lock.Locker) error {
	err := lock.Do(ctx, locks, "nightly-report", func(ctx context.Context, lease lock.Lease) error {
		return report(ctx)
	}, lock.NoWait(), lock.MaxHold(time.Hour))
	if errors.Is(err, lock.ErrHeld) {
		return nil // another process runs the job
	}
	return err
}
