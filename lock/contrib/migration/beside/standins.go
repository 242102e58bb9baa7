package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var errNotOurs = errors.New("the lock was not ours any more")

// openRedisson sends the commands of Redisson's RLock in scripts of our own: a hash with a field per client and thread,
// and a message on the lock's channel when it is free.
func openRedisson(clients []*redis.Client, key string) func(context.Context) (func(context.Context) error, error) {
	enter := redis.NewScript(`
		local free = redis.call('EXISTS', KEYS[1]) == 0
		if free or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
			redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
			redis.call('PEXPIRE', KEYS[1], ARGV[1])
			return -1
		end
		return redis.call('PTTL', KEYS[1])`)
	leave := redis.NewScript(`
		if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
		if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
			redis.call('DEL', KEYS[1])
			redis.call('PUBLISH', KEYS[2], '0')
		end
		return 1`)
	c, channel := clients[0], "redisson_lock__channel:{"+key+"}"
	return func(ctx context.Context) (func(context.Context) error, error) {
		thread := rand.Text() + ":7"
		free := c.Subscribe(ctx, channel)
		defer free.Close()
		if _, err := free.Receive(ctx); err != nil {
			return nil, err
		}
		for {
			left, err := enter.Run(ctx, c, []string{key}, expiry.Milliseconds(), thread).Int64()
			if err != nil {
				return nil, err
			}
			if left == -1 {
				return func(ctx context.Context) error {
					return wantOne(leave.Run(ctx, c, []string{key, channel}, thread).Int64())
				}, nil
			}
			// A message that does not come is a defect of the one who released.
			waits, cancel := context.WithTimeout(ctx, time.Duration(left)*time.Millisecond)
			_, err = free.ReceiveMessage(waits)
			cancel()
			if err != nil {
				return nil, fmt.Errorf("no message on %s: %w", channel, err)
			}
		}
	}
}

// openShedLock sends the commands of ShedLock's providers for Redis, and asks again instead of waiting for the next run
// of a job. It is the mode without safe updates, which deletes the key without a look at its value.
func openShedLock(clients []*redis.Client, key string) func(context.Context) (func(context.Context) error, error) {
	c := clients[0]
	key = shedLockPrefix + key
	return func(ctx context.Context) (func(context.Context) error, error) {
		for {
			value := fmt.Sprintf("ADDED:%s@host:%s", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), rand.Text())
			ok, err := c.SetNX(ctx, key, value, expiry).Result()
			if err != nil {
				return nil, err
			}
			if ok {
				return func(ctx context.Context) error { return wantOne(c.Del(ctx, key).Result()) }, nil
			}
			if err := sleep(ctx, pause); err != nil {
				return nil, err
			}
		}
	}
}

func wantOne(n int64, err error) error {
	if err == nil && n != 1 {
		err = errNotOurs
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
