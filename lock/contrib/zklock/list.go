package zklock

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/claims"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// ReadHeldLocks returns the locks below a root that are held, ordered by key, including those of zk.Lock
// and Curator, which have no Holder. Remaining is unknown: a lock lives as long as its holder's session, and the
// ensemble does not tell others how long that is. ReadHeldLocks needs only the right to read, and
// changes nothing. It finds locks directly below the root, and its keys are paths below it. Locks that are taken or
// released during the call may be missing or present.
//
// The ZooKeeper client has no contexts. When ctx ends, ReadHeldLocks fails at once, while its requests end
// with their answers or with conn.
func ReadHeldLocks(ctx context.Context, conn *zk.Conn, root string) ([]inspect.HeldLock, error) {
	return answered(ctx, func() ([]inspect.HeldLock, error) {
		queues, err := claims.ReadQueues(ctx, conn, root, true)
		if err != nil {
			return nil, err
		}
		base, err := claims.ReadBase(conn, root)
		if err != nil {
			return nil, err
		}
		var all []inspect.HeldLock
		for _, q := range queues {
			for _, c := range q.Holders() {
				h := inspect.HeldLock{Key: q.Key, Type: "znode"}
				if holder, err := records.ParseHolder(c.Record); err == nil {
					if h.Holder = holder; base != 0 {
						h.Fence = base + uint64(c.Stat.Czxid)
					}
				}
				all = append(all, h)
			}
		}
		return all, nil
	})
}

// ReadWaiting returns the waiters for the locks below a root, ordered by key and by position in the
// queue. It changes nothing, and fails as [ReadHeldLocks] does. ZooKeeper has neither how many calls of a process
// wait, nor which locks they hold.
func ReadWaiting(ctx context.Context, conn *zk.Conn, root string) ([]inspect.Waiting, error) {
	return answered(ctx, func() ([]inspect.Waiting, error) {
		queues, err := claims.ReadQueues(ctx, conn, root, false)
		if err != nil {
			return nil, err
		}
		var all []inspect.Waiting
		for _, q := range queues {
			for _, c := range q.Waiting() {
				all = append(all, inspect.Waiting{Key: q.Key, Since: time.UnixMilli(c.Stat.Ctime), Says: inspect.Process(c.Record)})
			}
		}
		return all, nil
	})
}

// answered waits for ask until ctx ends.
func answered[T any](ctx context.Context, ask func() ([]T, error)) ([]T, error) {
	all, err := store.InTime(ctx, ask)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("zklock: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("zklock: %w", store.Classify(err))
	}
	return all, nil
}
