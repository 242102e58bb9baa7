package zklock_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestReading tells who holds and who waits, of this package's claims and of those of zk.Lock.
func TestReading(t *testing.T) {
	e := ensemble(t, 1)
	conn := client(t, e)
	all, err := zklock.ReadHeldLocks(t.Context(), conn, zklock.DefaultRoot)
	must(t, err)
	if len(all) != 0 {
		t.Errorf("%+v", all)
	}
	lease := acquire(t, locker(t, e, lock.WithInstance("orders-1")), "a/b")
	plain := zk.NewLock(conn, "/locks/plain", zk.WorldACL(zk.PermAll))
	must(t, plain.Lock())
	ctx, cancel := context.WithCancel(t.Context())
	waiter, gone, began := locker(t, e, lock.WithInstance("orders-2")), make(chan error, 1), time.Now()
	go func() {
		_, err := waiter.Acquire(ctx, "a/b")
		gone <- err
	}()
	second, locked := zk.NewLock(conn, "/locks/plain", zk.WorldACL(zk.PermAll)), make(chan error, 1)
	go func() { locked <- second.Lock() }()
	var waiting []inspect.Waiting
	eventually(t, "both queue", func() bool {
		waiting, err = zklock.ReadWaiting(t.Context(), conn, zklock.DefaultRoot)
		must(t, err)
		return len(waiting) == 2
	})
	if w := waiting[0]; w.Key != "a/b" || w.Says.Instance != "orders-2" || w.Since.Sub(began).Abs() > patience {
		t.Errorf("%+v", w)
	}
	if w := waiting[1]; w.Key != "plain" || w.Says != nil || w.Since.Sub(began).Abs() > patience {
		t.Errorf("zk.Lock: %+v", w)
	}
	all, err = zklock.ReadHeldLocks(t.Context(), conn, zklock.DefaultRoot)
	must(t, err)
	if len(all) != 2 || all[0].Key != "a/b" || all[0].Holder.Instance != "orders-1" || all[0].Fence != lease.Fence() ||
		all[1].Key != "plain" || all[1].Holder != (lock.Holder{}) || all[1].Fence != 0 {
		t.Errorf("%+v", all)
	}
	cancel()
	wantErr(t, <-gone, context.Canceled)
	must(t, plain.Unlock())
	must(t, <-locked)
	must(t, second.Unlock())
	must(t, lease.Release(t.Context()))
	eventually(t, "nothing is held", func() bool {
		all, err = zklock.ReadHeldLocks(t.Context(), conn, zklock.DefaultRoot)
		must(t, err)
		return len(all) == 0
	})
}

// TestReadingFails with the class of what is wrong, and in time.
func TestReadingFails(t *testing.T) {
	e := ensemble(t, 1)
	conn := client(t, e)
	_, err := conn.Create("/private", nil, 0, zk.DigestACL(zk.PermAll, "owner", "s3cr3t"))
	must(t, err)
	_, err = zklock.ReadHeldLocks(t.Context(), conn, "/private")
	wantErr(t, err, driver.ErrDenied)
	must(t, e.Servers[0].Kill())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = zklock.ReadWaiting(ctx, conn, zklock.DefaultRoot)
	if class := driver.ClassOf(err); !class.Silent() {
		t.Errorf("class %s: %v", class, err)
	}
}
