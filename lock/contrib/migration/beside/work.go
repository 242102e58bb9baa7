package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/redlock"
)

// The kinds of processes. Each is a step of the migration.
const (
	kindOld  = "old"
	kindBoth = "both"
	kindNew  = "new"
)

// job is what a process does.
type job struct {
	kind    string
	library library
	judge   string   // URL of the server that counts
	servers []string // URLs of those that lock
	target  int      // stop when all processes together have acquired so often
}

// work acquires and releases until all processes together have done so target times.
func work(ctx context.Context, j job) (err error) {
	clients, closeClients, err := redlock.NewClients(j.servers[:j.library.servers])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeClients()) }()
	acquire, done, err := j.open(clients)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	opt, err := redis.ParseURL(j.judge)
	if err != nil {
		return err
	}
	judge := redis.NewClient(opt)
	defer judge.Close()
	for {
		entered, err := judge.Get(ctx, "entered").Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		if entered >= j.target {
			return nil
		}
		release, err := acquire(ctx)
		if err != nil {
			return fmt.Errorf("%s: acquire: %w", j.kind, err)
		}
		if err := enter(ctx, judge, j.kind); err != nil {
			return err
		}
		if err := release(ctx); err != nil {
			return fmt.Errorf("%s: release: %w", j.kind, err)
		}
	}
}

// enter is the work under the lock: it counts who is inside at the same time.
func enter(ctx context.Context, judge *redis.Client, kind string) error {
	pipe := judge.Pipeline()
	pipe.Incr(ctx, "entered")
	pipe.Incr(ctx, "entered:"+kind)
	inside := pipe.Incr(ctx, "inside")
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	if inside.Val() != 1 {
		if err := judge.Incr(ctx, "overlaps").Err(); err != nil {
			return err
		}
	}
	if err := sleep(ctx, time.Millisecond); err != nil {
		return err
	}
	return judge.Decr(ctx, "inside").Err()
}

// open returns how this kind of process acquires, and what ends its lockers.
func (j job) open(clients []redis.UniversalClient) (
	acquire func(context.Context) (func(context.Context) error, error), done func() error, err error,
) {
	if j.kind == kindOld {
		return j.library.open(single(clients), resource), func() error { return nil }, nil
	}
	locks, err := redlock.Open(j.servers)
	if err != nil {
		return nil, nil, err
	}
	done = locks.Close
	var locker lock.Locker = locks
	if j.kind == kindBoth {
		old, err := j.library.old(clients)
		if err != nil {
			return nil, nil, errors.Join(err, locks.Close())
		}
		locker = migration.Both(old, locks)
		done = func() error { return errors.Join(old.Close(), locks.Close()) }
	}
	return func(ctx context.Context) (func(context.Context) error, error) {
		lease, err := locker.Acquire(ctx, resource)
		if err != nil {
			return nil, err
		}
		return lease.Release, nil
	}, done, nil
}

func single(clients []redis.UniversalClient) (all []*redis.Client) {
	for _, c := range clients {
		all = append(all, c.(*redis.Client)) // NewClients makes no other of such URLs
	}
	return all
}

func (j job) args() []string {
	return []string{"-work", j.kind, "-library", j.library.name, "-judge", j.judge, "-servers",
		strings.Join(j.servers, ","), "-n", fmt.Sprint(j.target)}
}
