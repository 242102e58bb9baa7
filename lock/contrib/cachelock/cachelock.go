// Package cachelock has one process of a fleet fill an entry of a shared cache, while the others wait for it and read
// what it filled: singleflight across processes.
//
//	reports := cachelock.Cache[Report]{
//		Locker: locker,
//		Load:   load,  // from the cache
//		Fill:   query, // what is slow
//		Store:  store, // into the cache
//	}
//	report, err := reports.Get(ctx, "report:2026-11")
//
// # What a cache does not give
//
// A process that is stopped between the last look at its lease and its write may store a value that is old by then.
// Only the cache can refuse it: Store gets the fencing token. If the cache cannot compare tokens, let entries expire.
//
// Callers that waited take the lock one after another to read. Where many goroutines of a process ask for one entry,
// put golang.org/x/sync/singleflight in front.
package cachelock

import (
	"context"

	"github.com/lockscope/lockscope/lock"
)

// Cache is how entries are read and filled. Its functions are called in the goroutine of Get, and concurrently by
// concurrent calls.
type Cache[T any] struct {
	Locker lock.Locker
	// Options are those of every Acquire. lock.MaxWait bounds how long Get waits for another process;
	// lock.MaxHold, how long a Fill that hangs keeps the others waiting.
	Options []lock.AcquireOption

	// Load returns the entry from the cache; found is false if it is not there.
	Load func(ctx context.Context, key string) (value T, found bool, err error)
	// Fill makes the value. It should return when ctx ends: the lease is lost then, or the caller went away.
	Fill func(ctx context.Context, key string) (T, error)
	// Store writes the value to the cache. A later Fill of the key has a higher fence, and its value stays if Store
	// refuses lower ones; see package fencing. fence is 0 if the nodes keep no counters.
	Store func(ctx context.Context, key string, value T, fence uint64) error
}

// Get returns the entry of the cache. If it is not there, Get acquires the lock of that name, looks again and fills it.
//
// Get fails with the error of Load, Acquire, Fill or Store. If Fill or Store fails, the next caller that waits tries.
// If the lease is lost before Fill returns, Get stores nothing and fails with the lease's cause, such as lock.ErrLost.
// If no quorum of nodes answers, decide whether to fill without a lock: errors.Is(err, lock.ErrNoQuorum).
//
// If ctx ends while Fill runs, the lock is kept until Fill returns. A panic of a function releases it.
func (c *Cache[T]) Get(ctx context.Context, key string) (T, error) {
	value, found, err := c.Load(ctx, key)
	if found || err != nil {
		return value, err
	}
	lease, err := lock.AcquireDetached(ctx, c.Locker, key, c.Options...)
	if err != nil {
		return value, err
	}
	// The entry is stored or not by then: a decorator of the Locker reports the error.
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	working, stop := lock.WorkContext(ctx, lease)
	defer stop()
	if value, found, err = c.Load(working, key); found || err != nil {
		return value, err
	}
	return c.fill(working, key, lease.Fence())
}

func (c *Cache[T]) fill(ctx context.Context, key string, fence uint64) (value T, err error) {
	made, err := c.Fill(ctx, key)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = c.Store(ctx, key, made, fence)
	}
	if err != nil {
		return value, err
	}
	return made, nil
}
