package main

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// lockscopePeer is ours with its defaults. The servers have just been started, so that
// nobody has to wait until they may vote.
func lockscopePeer() peer {
	return peer{
		name: "lockscope",
		can:  func(work) bool { return true },
		open: func(_ context.Context, addrs []string) (locker, error) {
			c := newClients(addrs)
			nodes := make([]redis.UniversalClient, 0, len(c))
			for _, client := range c {
				nodes = append(nodes, client)
			}
			engine, err := redlock.New(nodes, redlock.WithRestartQuarantine(0))
			if err != nil {
				return nil, errors.Join(err, c.Close())
			}
			return &lockscopeLocker{engine: engine, clients: c}, nil
		},
	}
}

type lockscopeLocker struct {
	engine  *engine.Engine
	clients clients
}

func (l *lockscopeLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	lease, err := l.engine.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return lease.Release, nil
}

func (l *lockscopeLocker) Close() error { return errors.Join(l.engine.Close(), l.clients.Close()) }
