package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// engineOf takes locks on the nodes as the process with that name.
func engineOf(t testing.TB, f *nodes, name string) *engine.Engine {
	t.Helper()
	l, err := redlock.New(f.clients, lock.WithInstance(name), redlock.WithRestartQuarantine(0),
		lock.WithNodeTimeout(2*time.Second))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestWaitsWithoutAListing reads a queue and the lock behind it, and reports how much of the nodes was read. An
// interrupted reading must not look like an empty queue.
func TestWaitsWithoutAListing(t *testing.T) {
	f := startNodes(t, 3)
	s := newScanner(t, f.clients)
	holder, waiter := engineOf(t, f, "holder-1"), engineOf(t, f, "waiter-2")
	lease, err := holder.Acquire(within(t), "order", lock.TTL(time.Minute))
	must(t, err)
	defer func() { _ = lease.Release(context.Background()) }()
	ctx, giveUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = waiter.Acquire(ctx, "order")
	}()
	defer func() { giveUp(); <-done }()

	var w *listing.Waits
	eventually(t, "the waiter says who it is", func() bool {
		w, err = s.Waits(within(t))
		must(t, err)
		return len(w.Locks) == 1 && len(w.Locks[0].Queue) == 1 && w.Locks[0].Queue[0].Says != nil
	})
	if l := w.Locks[0]; l.Resource != "order" || l.Lock == nil || l.Lock.Hold.Instance != "holder-1" ||
		l.Queue[0].Says.Instance != "waiter-2" {
		t.Errorf("%+v", l)
	}
	if w.Read != 3 || w.Of != 3 {
		t.Errorf("read %d of %d nodes, want 3 of 3", w.Read, w.Of)
	}
	must(t, f.servers[2].Kill())
	if w, err = s.Waits(within(t)); asNode(t, err, f.servers[2].Addr()) == nil || w.Read != 2 || w.Of != 3 {
		t.Errorf("read %d of %d nodes: %v", w.Read, w.Of, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if w, err = s.Waits(ended); !errors.Is(err, context.Canceled) || w.Read != 0 {
		t.Errorf("ended context: read %d nodes: %v", w.Read, err)
	}
	must(t, s.Close())
	if w, err = s.Waits(within(t)); !errors.Is(err, scanner.ErrClosed) || w == nil {
		t.Errorf("closed: %v, %v", w, err)
	}
}

// TestDeadlockOfALateGrant: a node that grants after a quorum agreed on the fence may have a higher counter. The holder
// does not learn it, so its waiter record has the lower fence.
func TestDeadlockOfALateGrant(t *testing.T) {
	for late := range 3 {
		t.Run(fmt.Sprint("node ", late), func(t *testing.T) {
			f := startNodes(t, 3)
			s := newScanner(t, f.clients)
			orders, stock := engineOf(t, f, "orders-1"), engineOf(t, f, "stock-2")
			order := grantedLate(t, f, late, orders, "order")
			other := grantedLate(t, f, late, stock, "stock")
			ctx, giveUp := context.WithCancel(t.Context())
			var waiting sync.WaitGroup
			defer func() { giveUp(); waiting.Wait() }()
			wait := func(l lock.Locker, held lock.Lease, next string) {
				within, end := context.WithCancel(held.Context())
				defer context.AfterFunc(ctx, end)()
				_, _ = l.Acquire(within, next)
			}
			waiting.Go(func() { wait(orders, order, "stock") })
			waiting.Go(func() { wait(stock, other, "order") })
			eventually(t, "the deadlock is seen", func() bool {
				w, err := s.Waits(within(t))
				must(t, err)
				return len(w.Deadlocks) == 1
			})
			for _, l := range list(t, s, listing.Options{}).Locks {
				if fence := map[string]lock.Lease{"order": order,
					"stock": other}[l.Resource].Fence(); l.Hold.Fence != fence {
					t.Errorf("%s listed with fence %d, its holder has %d", l.Resource, l.Hold.Fence, fence)
				}
			}
		})
	}
}

// grantedLate takes a lock that one node grants after the others, with a higher counter.
func grantedLate(t *testing.T, f *nodes, late int, l lock.Locker, resource string) lock.Lease {
	t.Helper()
	before, err := l.Acquire(within(t), resource)
	must(t, err)
	must(t, before.Release(within(t)))
	node := f.clients[late]
	eventually(t, "the node has granted and let go",
		func() bool { return node.Exists(within(t), "lock:"+resource).Val() == 0 })
	counters, err := node.Keys(within(t), "lockscope:fence:*").Result()
	must(t, err)
	for _, key := range counters {
		must(t, node.Set(within(t), key, time.Now().Add(time.Second).UnixMicro(), 0).Err())
	}
	must(t, node.Do(within(t), "client", "pause", 300).Err())
	lease, err := l.Acquire(within(t), resource, lock.TTL(time.Minute))
	must(t, err)
	eventually(t, "the node has granted", func() bool { return node.Exists(within(t), "lock:"+resource).Val() == 1 })
	t.Cleanup(func() { _ = lease.Release(context.Background()) })
	return lease
}
