package etcdlock_test

import (
	"errors"
	"testing"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func rw(t testing.TB, l lock.Locker) *rwlock.RWLock {
	t.Helper()
	prices, err := rwlock.New(l, "prices")
	must(t, err)
	return prices
}

// TestMutexWaitsForReaders, and they for a Mutex that waits.
func TestMutexWaitsForReaders(t *testing.T) {
	c := cluster(t, 1)
	l, m, ctx := rw(t, locker(t, c)), mutex(t, c, "prices"), t.Context()
	reader, err := l.RLock(ctx)
	must(t, err)
	wantErr(t, m.TryLock(ctx), concurrency.ErrLocked)
	locked := make(chan error)
	go func() { locked <- m.Lock(ctx) }()
	eventually(t, "the Mutex stands in the queue", func() bool { return claims(t, c, "prices") == 2 })
	_, err = l.TryRLock(ctx)
	wantErr(t, err, lock.ErrHeld)
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || !held.HandedOver {
		t.Errorf("%v; it does not say that a writer waits", err)
	}
	must(t, reader.Release(ctx))
	must(t, <-locked)
	_, err = l.TryRLock(ctx)
	wantErr(t, err, lock.ErrHeld)
	must(t, m.Unlock(ctx))
	second, err := l.RLock(ctx)
	must(t, err)
	must(t, second.Release(ctx))
}

// TestReadersAreListed with a fence and a holder each, apart from the writer that waits for them.
func TestReadersAreListed(t *testing.T) {
	c := cluster(t, 1)
	ctx := t.Context()
	first, err := rw(t, locker(t, c, lock.WithInstance("a"))).RLock(ctx)
	must(t, err)
	second, err := rw(t, locker(t, c, lock.WithInstance("b"))).RLock(ctx)
	must(t, err)
	got := make(chan lock.Lease, 1)
	writers := rw(t, locker(t, c, lock.WithInstance("c")))
	go func() {
		lease, err := writers.Lock(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "the writer stands in the queue", func() bool { return claims(t, c, "prices") == 3 })
	all, err := etcdlock.ReadHeldLocks(ctx, client(t, c), lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	must(t, err)
	if len(all) != 2 || all[0].Key != "lock:prices" || all[0].Fence != first.Fence() || all[0].Holder.Instance != "a" ||
		all[1].Fence != second.Fence() || all[1].Holder.Kind != lock.KindRead {
		t.Errorf("%+v", all)
	}
	waiting, err := etcdlock.ReadWaiting(ctx, client(t, c), lock.DefaultPrefix)
	must(t, err)
	if len(waiting) != 1 || waiting[0].Says.Instance != "c" {
		t.Errorf("%+v", waiting)
	}
	must(t, errors.Join(first.Release(ctx), second.Release(ctx)))
	must(t, (<-got).Release(ctx))
}

// TestNumberOfSlotsEnds by itself a day after its last use: its key has a lease. It is no claim to a lock.
func TestNumberOfSlotsEnds(t *testing.T) {
	c := cluster(t, 1)
	pool, err := semaphore.New(locker(t, c), "a/b", 3)
	must(t, err)
	permit, err := pool.Acquire(t.Context())
	must(t, err)
	must(t, permit.Release(t.Context()))
	asked := client(t, c)
	resp, err := asked.Get(t.Context(), lock.DefaultPrefix+"/slots/a%2Fb#k")
	must(t, err)
	if len(resp.Kvs) != 1 || string(resp.Kvs[0].Value) != "3" || resp.Kvs[0].Lease == 0 {
		t.Fatalf("%+v", resp.Kvs)
	}
	all, err := etcdlock.ReadHeldLocks(t.Context(), asked, lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	must(t, err)
	if len(all) != 0 {
		t.Errorf("%+v", all)
	}
	_, err = asked.Put(t.Context(), lock.DefaultPrefix+"/slots/a%2Fb#k", "many")
	must(t, err)
	_, err = pool.TryAcquire(t.Context())
	wantErr(t, err, driver.ErrMisconfigured)
}

// TestResizeWithoutAMajority names the cluster and changes nothing.
func TestResizeWithoutAMajority(t *testing.T) {
	c := cluster(t, 3)
	l := locker(t, c)
	pool, err := semaphore.New(l, "pool", 3)
	must(t, err)
	permit, err := pool.Acquire(t.Context())
	must(t, err)
	must(t, permit.Release(t.Context()))
	for _, m := range c.Members[1:] {
		must(t, m.Pause())
	}
	err = l.Resize(t.Context(), "pool", 3, 4)
	unfinished, ok := errors.AsType[*engine.ResizeError](err)
	if !ok || len(unfinished.Nodes) != 1 || unfinished.Nodes[0].Err == nil {
		t.Errorf("without a majority: %v", err)
	}
	for _, m := range c.Members[1:] {
		must(t, m.Resume())
	}
	eventually(t, "the change is made once they answer", func() bool {
		return l.Resize(t.Context(), "pool", 3, 4) == nil
	})
	_, err = pool.TryAcquire(t.Context())
	if other, ok := errors.AsType[*lock.SlotsError](err); !ok || other.Other != 4 {
		t.Errorf("with the old number: %v", err)
	}
}
