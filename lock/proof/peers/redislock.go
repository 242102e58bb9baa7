package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
)

// redislockPeer is redislock with its defaults. It does not wait: whoever is refused
// has failed, and asks anew.
func redislockPeer() peer {
	return peer{
		name: "redislock",
		can:  func(w work) bool { return w.nodes == 1 },
		open: openRedislock(nil),
	}
}

// redislockTunedPeer asks again every 3 ms.
func redislockTunedPeer() peer {
	return peer{
		name: "redislock tuned",
		can:  func(w work) bool { return w.nodes == 1 && w.contended },
		open: openRedislock(&redislock.Options{RetryStrategy: redislock.LinearBackoff(3 * time.Millisecond)}),
	}
}

func openRedislock(opts *redislock.Options) func(context.Context, []string) (locker, error) {
	return func(_ context.Context, addrs []string) (locker, error) {
		c := newClients(addrs[:1])
		return &redislockLocker{clients: c, client: redislock.New(c[0]), opts: opts}, nil
	}
}

type redislockLocker struct {
	clients
	client *redislock.Client
	opts   *redislock.Options // not changed by the strategies used here
}

func (l *redislockLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	held, err := l.client.Obtain(ctx, resource, ttl, l.opts)
	if err != nil {
		return nil, err
	}
	return held.Release, nil
}
