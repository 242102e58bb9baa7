package zklock

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/claims"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// HeldLock is a lock that is held. It has no remaining time: the lock lives as long as its holder's
// session, and the ensemble does not tell others how long that is.
type HeldLock struct {
	Key    string      // path below the root
	Fence  uint64      // 0 for zk.Lock and Curator
	Holder lock.Holder // empty for zk.Lock and Curator
}

// Waiting is a claim behind the one that holds a lock. It names the waiting process, but not how many
// of its calls wait, nor which locks they hold.
type Waiting struct {
	Key    string
	Since  time.Time   // on the ensemble's clock
	Holder lock.Holder // the waiting process; empty for zk.Lock and Curator
}

// ReadHeldLocks returns the locks below a root that are held, ordered by key, including those of zk.Lock
// and Curator. A lock that is read has one entry for each reader. ReadHeldLocks needs only the right to read, and
// changes nothing. It finds locks directly below the root. Locks that are taken or released during the call may be
// missing or present.
//
// The ZooKeeper client has no contexts. When ctx ends, ReadHeldLocks fails at once, while its requests end
// with their answers or with conn.
func ReadHeldLocks(ctx context.Context, conn *zk.Conn, root string) ([]HeldLock, error) {
	return answered(ctx, func() ([]HeldLock, error) {
		queues, err := claims.ReadQueues(ctx, conn, root, true)
		if err != nil {
			return nil, err
		}
		base, err := claims.ReadBase(conn, root)
		if err != nil {
			return nil, err
		}
		var all []HeldLock
		for _, q := range queues {
			for _, c := range q.Holders() {
				h := HeldLock{Key: q.Key}
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
// queue. It changes nothing, and fails as [ReadHeldLocks] does.
func ReadWaiting(ctx context.Context, conn *zk.Conn, root string) ([]Waiting, error) {
	return answered(ctx, func() ([]Waiting, error) {
		queues, err := claims.ReadQueues(ctx, conn, root, false)
		if err != nil {
			return nil, err
		}
		var all []Waiting
		for _, q := range queues {
			for _, c := range q.Waiting() {
				holder, _ := records.ParseHolder(c.Record)
				all = append(all, Waiting{Key: q.Key, Since: time.UnixMilli(c.Stat.Ctime), Holder: holder})
			}
		}
		return all, nil
	})
}

// answered waits for ask until ctx ends.
func answered[T any](ctx context.Context, ask func() ([]T, error)) ([]T, error) {
	var all []T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		all, err = ask()
	}()
	select {
	case <-done:
		if err != nil {
			return nil, fmt.Errorf("zklock: %w", store.Classify(err))
		}
		return all, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("zklock: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
