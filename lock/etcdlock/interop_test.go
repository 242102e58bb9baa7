package etcdlock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// mutex is a plain concurrency.Mutex with a session of its own.
func mutex(t testing.TB, c *etcdproc.Cluster, resource string) *concurrency.Mutex {
	t.Helper()
	session, err := concurrency.NewSession(client(t, c))
	must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return concurrency.NewMutex(session, etcdlock.MutexPrefix(lock.DefaultPrefix, resource))
}

// TestMutexExcludes and is excluded, also while it waits, and for a resource with slashes.
func TestMutexExcludes(t *testing.T) {
	c := cluster(t, 1)
	for _, resource := range []string{"job", "a/b%2F"} {
		l, m, ctx := locker(t, c), mutex(t, c, resource), t.Context()
		must(t, m.Lock(ctx))
		_, err := l.Acquire(ctx, resource, lock.NoWait())
		wantErr(t, err, lock.ErrHeld)
		got := make(chan lock.Lease)
		go func() {
			lease, err := l.Acquire(ctx, resource)
			if err != nil {
				t.Error(err)
			}
			got <- lease
		}()
		eventually(t, "it stands in the queue", func() bool { return claims(t, c, resource) == 2 })
		must(t, m.Unlock(ctx))
		lease := <-got
		wantErr(t, m.TryLock(ctx), concurrency.ErrLocked)
		locked := make(chan error)
		go func() { locked <- m.Lock(ctx) }()
		eventually(t, "the Mutex stands in the queue", func() bool { return claims(t, c, resource) == 2 })
		must(t, lease.Release(ctx))
		must(t, <-locked)
		must(t, m.Unlock(ctx))
	}
}

// TestMutexesAndLockersInOneQueue take turns, one at a time.
func TestMutexesAndLockersInOneQueue(t *testing.T) {
	c := cluster(t, 1)
	var all sync.WaitGroup
	inside := make(chan struct{}, 1)
	work := func() error {
		select {
		case inside <- struct{}{}:
		default:
			return errors.New("two at a time")
		}
		time.Sleep(time.Millisecond)
		<-inside
		return nil
	}
	const workers, each = 3, 15
	for range workers {
		m, l := mutex(t, c, "shared"), locker(t, c)
		all.Go(func() {
			for range each {
				if err := m.Lock(t.Context()); err != nil {
					t.Error(err)
				}
				err := errors.Join(work(), m.Unlock(t.Context()))
				if err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range each {
				if err := lock.Do(t.Context(), l, "shared",
					func(context.Context, lock.Lease) error { return work() }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
