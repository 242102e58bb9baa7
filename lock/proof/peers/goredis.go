package main

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// goRedisPeer is the least a lock can do with plain go-redis: SET NX PX and a
// compare-and-delete, sent to all nodes at once, going on when a quorum has answered. It
// has no fence, no validity, no renewal, and does not wait.
func goRedisPeer() peer {
	return peer{
		name: "go-redis",
		can:  func(w work) bool { return !w.contended },
		open: func(_ context.Context, addrs []string) (locker, error) {
			return &goRedisLocker{clients: newClients(addrs), unlock: redis.NewScript(compareAndDelete)}, nil
		},
	}
}

type goRedisLocker struct {
	clients
	unlock *redis.Script
}

func (l *goRedisLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	token := newToken()
	release := func(ctx context.Context) error {
		return l.onQuorum(errNotHeld, func(c *redis.Client) (bool, error) {
			deleted, err := l.unlock.Run(ctx, c, []string{resource}, token).Int()
			return deleted == 1, err
		})
	}
	err := l.onQuorum(errHeld, func(c *redis.Client) (bool, error) {
		return c.SetNX(ctx, resource, token, ttl).Result()
	})
	if err != nil {
		_ = release(context.WithoutCancel(ctx)) // what a minority granted; it also ends by itself
		return nil, err
	}
	return release, nil
}

// onQuorum asks every node, and returns as soon as a quorum has said yes. If that can
// no longer be, it fails with no, joined with what went wrong.
func (l *goRedisLocker) onQuorum(no error, ask func(*redis.Client) (bool, error)) error {
	one := func(c *redis.Client) error {
		yes, err := ask(c)
		if err == nil && !yes {
			err = no
		}
		return err
	}
	if len(l.clients) == 1 {
		return one(l.clients[0])
	}
	answers := make(chan error, len(l.clients))
	for _, c := range l.clients {
		go func() { answers <- one(c) }()
	}
	quorum := len(l.clients)/2 + 1
	var failed []error
	for range l.clients {
		if err := <-answers; err != nil {
			failed = append(failed, err)
		} else if quorum--; quorum == 0 {
			return nil
		}
	}
	return errors.Join(failed...)
}
