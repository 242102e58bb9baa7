package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/engine"
)

// library is one that people migrate from.
type library struct {
	name    string
	servers int    // on how many it locks
	script  string // of Node.js, which works instead of this program; "" if open does
	standIn bool   // it is not the library that runs, but its commands
	// open returns a function that waits for the lock and returns one that releases it.
	open func(clients []*redis.Client, key string) func(ctx context.Context) (func(context.Context) error, error)
	// old is the lock that Both holds beside the new one. Its key is the library's.
	old func(clients []redis.UniversalClient) (*engine.Engine, error)
}

const (
	resource = "order:1001"
	expiry   = 30 * time.Second
	pause    = 3 * time.Millisecond // of those who poll
)

func libraries() []library {
	return []library{
		{name: "redsync", servers: 3, open: openRedsync, old: stringKeys("")},
		{name: "redislock", servers: 1, open: openRedislock, old: stringKeys("")},
		{name: "node-redlock", servers: 3, script: "node-redlock.cjs", old: stringKeys("")},
		{name: "Redisson", servers: 1, standIn: true, open: openRedisson, old: redissonKeys},
		{name: "ShedLock", servers: 1, standIn: true, open: openShedLock, old: stringKeys(shedLockPrefix)},
	}
}

// shedLockPrefix is that of ShedLock's providers for Redis with their defaults.
const shedLockPrefix = "job-lock:default:"

func polling() lock.Option { return lock.WithPollInterval(pause) }

func stringKeys(prefix string) func([]redis.UniversalClient) (*engine.Engine, error) {
	return func(clients []redis.UniversalClient) (*engine.Engine, error) {
		return migration.StringKeys(prefix, clients, polling())
	}
}

func redissonKeys(clients []redis.UniversalClient) (*engine.Engine, error) {
	return migration.RedissonKeys("", clients[0], polling())
}

func openRedsync(clients []*redis.Client, key string) func(context.Context) (func(context.Context) error, error) {
	var pools []redsyncredis.Pool
	for _, c := range clients {
		pools = append(pools, goredis.NewPool(c))
	}
	rs := redsync.New(pools...)
	return func(ctx context.Context) (func(context.Context) error, error) {
		m := rs.NewMutex(key, redsync.WithExpiry(expiry), redsync.WithTries(1e6), redsync.WithRetryDelay(pause))
		if err := m.LockContext(ctx); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if ok, err := m.UnlockContext(ctx); err != nil || !ok {
				return errors.Join(errors.New("redsync: not unlocked"), err)
			}
			return nil
		}, nil
	}
}

func openRedislock(clients []*redis.Client, key string) func(context.Context) (func(context.Context) error, error) {
	locker := redislock.New(clients[0])
	opts := &redislock.Options{RetryStrategy: redislock.LinearBackoff(pause)}
	return func(ctx context.Context) (func(context.Context) error, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour) // or it waits for no longer than its TTL
		defer cancel()
		l, err := locker.Obtain(ctx, key, expiry, opts)
		if err != nil {
			return nil, err
		}
		return l.Release, nil
	}
}
