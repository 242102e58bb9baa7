package zklock_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func rw(t testing.TB, l lock.Locker) *rwlock.RWLock {
	t.Helper()
	prices, err := rwlock.New(l, "prices")
	must(t, err)
	return prices
}

// TestPlainLockWaitsForReaders, and they for a plain lock that waits.
func TestPlainLockWaitsForReaders(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	conn, l, ctx := client(t, e), rw(t, locker(t, e)), t.Context()
	reader, err := l.RLock(ctx)
	must(t, err)
	plain := zk.NewLock(conn, "/locks/prices", zk.WorldACL(zk.PermAll))
	locked := make(chan error)
	go func() { locked <- plain.Lock() }()
	eventually(t, "the plain lock stands in the queue", func() bool { return len(children(t, conn, "prices")) == 2 })
	_, err = l.TryRLock(ctx)
	wantErr(t, err, lock.ErrHeld)
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || !held.HandedOver {
		t.Errorf("%v; it does not say that a writer waits", err)
	}
	select {
	case err := <-locked:
		t.Fatalf("the plain lock did not wait: %v", err)
	default:
	}
	must(t, reader.Release(ctx))
	must(t, <-locked)
	_, err = l.TryRLock(ctx)
	wantErr(t, err, lock.ErrHeld)
	must(t, plain.Unlock())
	second, err := l.RLock(ctx)
	must(t, err)
	must(t, second.Release(ctx))
}

// TestReadersAreListed with a fence and a holder each, apart from the writer that waits for them.
func TestReadersAreListed(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	conn, ctx := client(t, e), t.Context()
	first, err := rw(t, locker(t, e, lock.WithInstance("a"))).RLock(ctx)
	must(t, err)
	second, err := rw(t, locker(t, e, lock.WithInstance("b"))).RLock(ctx)
	must(t, err)
	got := make(chan lock.Lease, 1)
	writers := rw(t, locker(t, e, lock.WithInstance("c")))
	go func() {
		lease, err := writers.Lock(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "the writer stands in the queue", func() bool { return len(children(t, conn, "prices")) == 3 })
	all, err := zklock.ReadHeldLocks(ctx, conn, zklock.DefaultRoot)
	must(t, err)
	if len(all) != 2 || all[0].Fence != first.Fence() || all[0].Holder.Instance != "a" ||
		all[1].Fence != second.Fence() || all[1].Holder.Kind != lock.KindRead {
		t.Errorf("%+v", all)
	}
	waiting, err := zklock.ReadWaiting(ctx, conn, zklock.DefaultRoot)
	must(t, err)
	if len(waiting) != 1 || waiting[0].Says.Instance != "c" {
		t.Errorf("%+v", waiting)
	}
	must(t, errors.Join(first.Release(ctx), second.Release(ctx)))
	must(t, (<-got).Release(ctx))
}

// TestNumberOfSlotsIsANode that is no lock. What is no number is reported with its node.
func TestNumberOfSlotsIsANode(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	pool, err := semaphore.New(locker(t, e), "a/b", 3)
	must(t, err)
	permit, err := pool.Acquire(t.Context())
	must(t, err)
	must(t, permit.Release(t.Context()))
	conn := client(t, e)
	const node = "/locks/;slots;a%2Fb"
	data, _, err := conn.Get(node)
	if err != nil || string(data) != "3" {
		t.Fatalf("%q, %v", data, err)
	}
	all, err := zklock.ReadHeldLocks(t.Context(), conn, zklock.DefaultRoot)
	must(t, err)
	if len(all) != 0 {
		t.Errorf("%+v", all)
	}
	_, err = conn.Set(node, []byte("many"), -1)
	must(t, err)
	_, err = pool.TryAcquire(t.Context())
	wantErr(t, err, driver.ErrMisconfigured)
	must(t, conn.Delete(node, -1))
	permit, err = pool.TryAcquire(t.Context())
	must(t, err)
	must(t, permit.Release(t.Context()))
}

// TestResizeWithoutAMajority names the ensemble and changes nothing.
func TestResizeWithoutAMajority(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 3)
	l := locker(t, e)
	pool, err := semaphore.New(l, "pool", 3)
	must(t, err)
	permit, err := pool.Acquire(t.Context())
	must(t, err)
	must(t, permit.Release(t.Context()))
	for _, s := range e.Servers[1:] {
		must(t, s.Pause())
	}
	err = l.Resize(t.Context(), "pool", 3, 4)
	unfinished, ok := errors.AsType[*engine.ResizeError](err)
	if !ok || len(unfinished.Nodes) != 1 || unfinished.Nodes[0].Err == nil {
		t.Errorf("without a majority: %v", err)
	}
	for _, s := range e.Servers[1:] {
		must(t, s.Resume())
	}
	eventually(t, "the change is made once they answer", func() bool {
		return l.Resize(t.Context(), "pool", 3, 4) == nil
	})
	_, err = pool.TryAcquire(t.Context())
	if other, ok := errors.AsType[*lock.SlotsError](err); !ok || other.Other != 4 {
		t.Errorf("with the old number: %v", err)
	}
}
