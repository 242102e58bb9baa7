package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
)

// redsyncPeer is redsync with its defaults: it waits for the answers of all nodes, and
// asks again up to 31 times, every 50 to 250 ms.
func redsyncPeer() peer {
	return peer{
		name: "redsync",
		can:  func(work) bool { return true },
		open: openRedsync(),
	}
}

// redsyncFailFastPeer goes on when a quorum has answered.
func redsyncFailFastPeer() peer {
	return peer{
		name: "redsync failfast",
		can:  func(w work) bool { return w.nodes > 1 && !w.contended },
		open: openRedsync(redsync.WithFailFast(true)),
	}
}

// redsyncTunedPeer asks again after 2 to 6 ms, as long as it takes, and goes on with a
// quorum. The delay is drawn, or several nodes would split the vote again and again.
func redsyncTunedPeer() peer {
	const low, span = 2 * time.Millisecond, 4 * time.Millisecond
	return peer{
		name: "redsync tuned",
		can:  func(w work) bool { return w.contended },
		open: openRedsync(
			redsync.WithFailFast(true),
			redsync.WithTries(1<<30),
			redsync.WithRetryDelayFunc(func(int) time.Duration { return low + rand.N(span) }),
		),
	}
}

func openRedsync(opts ...redsync.Option) func(context.Context, []string) (locker, error) {
	opts = append(opts, redsync.WithExpiry(ttl))
	return func(_ context.Context, addrs []string) (locker, error) {
		c := newClients(addrs)
		pools := make([]redsyncredis.Pool, 0, len(c))
		for _, client := range c {
			pools = append(pools, goredis.NewPool(client))
		}
		return &redsyncLocker{clients: c, sync: redsync.New(pools...), opts: opts}, nil
	}
}

type redsyncLocker struct {
	clients
	sync *redsync.Redsync
	opts []redsync.Option
}

func (l *redsyncLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	mutex := l.sync.NewMutex(resource, l.opts...)
	if err := mutex.LockContext(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		released, err := mutex.UnlockContext(ctx)
		if err == nil && !released {
			return errNotHeld
		}
		return err
	}, nil
}
