package redlock_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// turn records which locker was served, and whether a release had named it.
type turn struct {
	locker int
	named  bool
}

// queueUp starts an Acquire of each locker, one after the other: each is in the queue before the next one starts. The
// result reports, in order, which locker was served.
func queueUp(ctx context.Context, f *realNodes, resource string, hold time.Duration,
	lockers []*engine.Engine) (<-chan turn, *sync.WaitGroup) {
	f.t.Helper()
	served, wg := make(chan turn, len(lockers)), new(sync.WaitGroup)
	for i, l := range lockers {
		rec := newRecorder()
		waiting := acquireAsync(rec.in(ctx), l, resource, lock.TTL(longTTL))
		wg.Go(func() {
			g := <-waiting
			if g.err != nil {
				return
			}
			served <- turn{i, of(rec, func(e locktrace.WaitEnd) bool { return e.Named }) > 0}
			time.Sleep(hold) // work
			if err := g.lease.Release(f.t.Context()); err != nil {
				f.t.Errorf("release by %d: %v", i, err)
			}
		})
		awaitEvents(f.t, rec, settleTime, 1, "waiting for the holder",
			func(e locktrace.WaitStart) bool { return e.Kind == locktrace.WaitHolder })
		eventually(f.t, settleTime, fmt.Sprint(i+1, " are queued"), func() bool { return f.queued(resource) == i+1 })
	}
	return served, wg
}

// turns returns the next n lockers in the order in which they are served, and how many of them were named.
func turns(t *testing.T, served <-chan turn, n int) (order []int, named int) {
	t.Helper()
	for range n {
		got := await(t, settleTime, "the next is served", served)
		order = append(order, got.locker)
		if got.named {
			named++
		}
	}
	return order, named
}

// TestRealHandOffOrder: the lockers are served in the order of their queue, and most of them are named: a waiter may poll
// just when its turn comes. On a busy machine a named waiter may miss the time for which the lock is kept for it, and
// another may overtake: then they queue again.
func TestRealHandOffOrder(t *testing.T) {
	for _, nodes := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			f := startNodes(t, nodes)
			var lockers []*engine.Engine
			for range 8 {
				lockers = append(lockers, f.locker(lock.WithNodeTimeout(patience)))
			}
			first := f.locker(lock.WithNodeTimeout(patience))
			inOrder := func(resource string) bool {
				holder := acquire(t, first, resource, lock.TTL(longTTL))
				served, wg := queueUp(t.Context(), f, resource, time.Millisecond, lockers)
				must(t, holder.Release(t.Context()))
				order, named := turns(t, served, len(lockers))
				wg.Wait()
				t.Logf("served: %v, %d named", order, named)
				return slices.IsSorted(order) && named > len(lockers)/2
			}
			if !inOrder("a") && !inOrder("b") && !inOrder("c") && !inOrder("d") {
				t.Error("never in the order of the queue, with most of them named")
			}
			// A waiter's record may be written late to a node that was asked beside the gate. It expires with its TTL.
			f.wantNone("*", f.all(), func(key string) bool {
				return !strings.Contains(key, ": lockscope:fence:{") && !strings.Contains(key, ": lockscope:waiter:{")
			})
		})
	}
}

// TestRealCrashedWaiter kills a waiter in the middle of the queue, and the kernel closes its connections. If the lock
// were handed to it, the others would have to poll after a node timeout.
func TestRealCrashedWaiter(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			f := startNodes(t, nodes)
			var proxies []*netfault.Proxy
			var doomed []redis.UniversalClient
			for _, s := range f.servers {
				p := proxyTo(t, s)
				proxies = append(proxies, p)
				doomed = append(doomed, plainClient(t, &redis.Options{Addr: p.Addr(), ClientName: "doomed"}))
			}
			patient := lock.WithNodeTimeout(patience)
			lockers := []*engine.Engine{
				f.locker(patient), f.locker(patient), newLocker(t, doomed, patient), f.locker(patient),
				f.locker(patient),
			}
			holder := acquire(t, f.locker(patient), "job", lock.TTL(longTTL))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			served, wg := queueUp(ctx, f, "job", time.Millisecond, lockers)
			for _, p := range proxies {
				p.Refuse(true)
				p.CutAll()
			}
			eventually(t, settleTime, "the servers have noticed", func() bool { return !f.connected("doomed") })
			began := time.Now()
			must(t, holder.Release(t.Context()))
			order, _ := turns(t, served, 4)
			if slices.Sort(order); !slices.Equal(order, []int{0, 1, 3, 4}) {
				t.Errorf("served: %v", order)
			}
			wantWithin(t, "4 hand-offs past a dead waiter", time.Since(began), patience/2)
			cancel()
			wg.Wait()
			f.wantNoLocks()
		})
	}
}

// connected reports whether a client with that name is connected to any node.
func (f *realNodes) connected(name string) bool {
	f.t.Helper()
	return slices.ContainsFunc(f.all(), func(node int) bool {
		return slices.ContainsFunc(f.connections(node), func(c string) bool {
			return strings.Contains(c,
				" name="+name+" ")
		})
	})
}

// subscribers counts the channels that have a subscriber, on all nodes.
func (f *realNodes) subscribers() (n int) {
	for _, c := range f.admin {
		n += len(c.PubSubChannels(f.t.Context(), "*").Val())
	}
	return n
}

// TestRealFreeLockIsFound hides the release from a waiter: the waiter finds the free lock by polling, long before the
// TTL ends.
func TestRealFreeLockIsFound(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		for name, hide := range map[string]func(f *realNodes, release func()){
			"subscriptions killed": func(f *realNodes, release func()) {
				for _, c := range f.admin {
					must(t, c.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
				}
				release()
			},
			"nodes stalled 100ms": func(f *realNodes, release func()) {
				f.pause(f.all()...)
				stalled := time.AfterFunc(100*time.Millisecond, func() { f.resume(f.all()...) })
				defer stalled.Stop()
				release()
			},
			"first node stalled 100ms after the release": func(f *realNodes, release func()) {
				release()
				f.pause(0)
				time.Sleep(100 * time.Millisecond) // the fault itself
				f.resume(0)
			},
		} {
			t.Run(fmt.Sprint(nodes, " ", name), func(t *testing.T) {
				t.Parallel()
				f := startNodes(t, nodes)
				holder := acquire(t, f.locker(), "job", lock.TTL(longTTL))
				served, wg := queueUp(t.Context(), f, "job", 0, []*engine.Engine{f.locker(), f.locker()})
				hide(f, func() { _ = holder.Release(t.Context()) })
				free := time.Now()
				for range 2 {
					await(t, 2*settleTime, "a waiter", served)
				}
				wantWithin(t, "finding the free lock", time.Since(free), settleTime)
				wg.Wait()
				f.wantNoLocks()
			})
		}
	}
}
