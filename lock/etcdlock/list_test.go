package etcdlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

func readHeld(t testing.TB, client *clientv3.Client) map[string]inspect.HeldLock {
	t.Helper()
	all, err := etcdlock.ReadHeldLocks(t.Context(), client, lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	must(t, err)
	byKey := make(map[string]inspect.HeldLock)
	for _, h := range all {
		byKey[h.Key] = h
	}
	if len(byKey) != len(all) {
		t.Errorf("a lock is listed twice: %+v", all)
	}
	return byKey
}

// TestReading tells who holds and who waits, of this package's claims and of a plain Mutex.
func TestReading(t *testing.T) {
	c := cluster(t, 1)
	admin := client(t, c)
	if all := readHeld(t, admin); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	lease := acquire(t, locker(t, c, lock.WithInstance("orders-1")), "a/b%2F", lock.TTL(20*time.Second))
	m := mutex(t, c, "plain")
	must(t, m.Lock(t.Context()))
	_, err := admin.Put(t.Context(), lock.DefaultPrefix+"config/note", "no claim")
	must(t, err)
	_, err = admin.Put(t.Context(), lock.DefaultPrefix+"forever/0", "")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waiter, gone := locker(t, c, lock.WithInstance("orders-2")), make(chan error, 2)
	for _, resource := range []string{"plain", "a/b%2F"} {
		go func() {
			_, err := waiter.Acquire(ctx, resource)
			gone <- err
		}()
		eventually(t, "it stands in the queue", func() bool { return claims(t, c, resource) == 2 })
	}

	all := readHeld(t, admin)
	if h := all["lock:a/b%2F"]; h.Holder.Instance != "orders-1" || h.Fence != lease.Fence() ||
		h.Remaining <= 15*time.Second || h.Remaining > 21*time.Second {
		t.Errorf("%+v", h)
	}
	if h := all["lock:plain"]; h.Holder != (lock.Holder{}) || h.Fence != 0 || h.Remaining <= 0 ||
		h.Remaining > time.Minute {
		t.Errorf("a plain Mutex: %+v", h)
	}
	if h := all["lock:forever"]; len(all) != 3 || h.Remaining >= 0 {
		t.Errorf("%+v", all)
	}
	waiting, err := etcdlock.ReadWaiting(t.Context(), admin, lock.DefaultPrefix)
	must(t, err)
	if len(waiting) != 2 || waiting[0].Key != "lock:a/b%2F" || waiting[1].Key != "lock:plain" ||
		waiting[0].Says.Instance != "orders-2" || time.Since(waiting[0].Since) > waitTime {
		t.Errorf("%+v", waiting)
	}
	cancel()
	for range 2 {
		wantErr(t, <-gone, context.Canceled)
	}
	must(t, lease.Release(t.Context()))
	must(t, m.Unlock(t.Context()))
	eventually(t, "nothing else is held", func() bool { return len(readHeld(t, admin)) == 1 })
}

// TestReadingFences of locks that were granted before the base was raised, as long as its history is kept.
func TestReadingFences(t *testing.T) {
	c := cluster(t, 1)
	admin, l := client(t, c), locker(t, c)
	var leases []lock.Lease
	for i := range 3 {
		leases = append(leases, acquire(t, l, fmt.Sprint("job-", i), lock.TTL(30*time.Second)))
		_, err := admin.Put(t.Context(), etcdlock.DefaultFenceKey, fmt.Sprint(leases[i].Fence()+1000))
		must(t, err)
	}
	all := readHeld(t, admin)
	for _, lease := range leases {
		if got := all["lock:"+lease.Resource()].Fence; got != lease.Fence() {
			t.Errorf("%s: fence %d, want %d", lease.Resource(), got, lease.Fence())
		}
	}
	resp, err := admin.Get(t.Context(), "any")
	must(t, err)
	_, err = admin.Compact(t.Context(), resp.Header.Revision, clientv3.WithCompactPhysical())
	must(t, err)
	if got := readHeld(t, admin)["lock:job-0"]; got.Fence != 0 || got.Remaining <= 0 {
		t.Errorf("the history is compacted: %+v", got)
	}
	for _, lease := range leases {
		must(t, lease.Release(t.Context()))
	}
}

// TestReadingManyKeys takes more than one page of them.
func TestReadingManyKeys(t *testing.T) {
	c := cluster(t, 1)
	admin := client(t, c)
	const many = 2300
	for from := 0; from < many; from += 100 {
		var puts []clientv3.Op
		for i := range 100 {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("lock:%d/1", from+i), ""))
		}
		_, err := admin.Txn(t.Context()).Then(puts...).Commit()
		must(t, err)
	}
	if all := readHeld(t, admin); len(all) != many {
		t.Errorf("%d locks, want %d", len(all), many)
	}
}

// TestReadingFails with the class of what is wrong, and in time.
func TestReadingFails(t *testing.T) {
	c := cluster(t, 1)
	admin := client(t, c)
	must(t, c.Members[0].Kill())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := etcdlock.ReadHeldLocks(ctx, admin, lock.DefaultPrefix, etcdlock.DefaultFenceKey)
	if class := driver.ClassOf(err); !class.Silent() {
		t.Errorf("class %s: %v", class, err)
	}
	closed, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Logger: zap.NewNop()})
	must(t, err)
	must(t, closed.Close())
	if _, err = etcdlock.ReadWaiting(t.Context(), closed, lock.DefaultPrefix); err == nil {
		t.Error("read through a client that is closed")
	}
}
