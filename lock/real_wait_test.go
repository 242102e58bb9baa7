package lock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
)

// pollInterval is how long a waiter that hears nothing may overlook a free lock.
const pollInterval = lock.DefaultPollInterval

// queueUp starts an Acquire of each locker, one after the other: each is seen in the queue before the next one comes.
// What is returned tells, in order, who was served.
func queueUp(ctx context.Context, f *realNodes, resource string, hold time.Duration, lockers []*lock.Redlock) (<-chan int, *sync.WaitGroup) {
	f.t.Helper()
	served, wg := make(chan int, len(lockers)), new(sync.WaitGroup)
	for i, l := range lockers {
		rec := newRecorder()
		waiting := acquireAsync(rec.in(ctx), l, resource, lock.TTL(longTTL))
		wg.Go(func() {
			g := <-waiting
			if g.err != nil {
				return
			}
			served <- i
			time.Sleep(hold) // work
			if err := g.lease.Release(f.t.Context()); err != nil {
				f.t.Errorf("release by %d: %v", i, err)
			}
		})
		awaitEvents(f.t, rec, settleTime, 1, "waiting for the holder", func(e lock.WaitStart) bool { return e.Kind == lock.WaitHolder })
		for deadline := time.Now().Add(settleTime); f.queued(resource) != i+1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				f.t.Fatalf("%d waiters are queued, want %d; the last one:\n%s", f.queued(resource), i+1, rec)
			}
		}
	}
	return served, wg
}

func TestRealHandOffOrder(t *testing.T) {
	for _, nodes := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			f := startNodes(t, nodes)
			var lockers []*lock.Redlock
			for range 8 {
				lockers = append(lockers, f.locker())
			}
			holder := acquire(t, f.locker(), "job", lock.TTL(longTTL))
			served, wg := queueUp(t.Context(), f, "job", time.Millisecond, lockers)
			began := time.Now()
			must(t, holder.Release(t.Context()))
			for want := range lockers {
				if got := await(t, settleTime, "the next is served", served); got != want {
					t.Errorf("locker %d was served, want %d", got, want)
				}
			}
			wantWithin(t, "8 hand-offs", time.Since(began), pollInterval) // by name, not by polling
			wg.Wait()
			f.wantOnlyFences()
		})
	}
}

// TestRealCrashedWaiter has a waiter in the middle of the queue die: the kernel closes its connections.
func TestRealCrashedWaiter(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			f := startNodes(t, nodes)
			var proxies []*netfault.Proxy
			var doomed []redis.UniversalClient
			for _, s := range f.servers {
				p := proxyTo(t, s)
				proxies = append(proxies, p)
				doomed = append(doomed, plainClient(t, &redis.Options{Addr: p.Addr()}))
			}
			lockers := []*lock.Redlock{f.locker(), f.locker(), newLocker(t, doomed), f.locker(), f.locker()}
			holder := acquire(t, f.locker(), "job", lock.TTL(longTTL))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			served, wg := queueUp(ctx, f, "job", time.Millisecond, lockers)
			for _, p := range proxies {
				p.Refuse(true)
				p.CutAll()
			}
			eventually(t, settleTime, "the servers have noticed", func() bool { return f.subscribers() == 4*min(nodes, 1) })
			began := time.Now()
			must(t, holder.Release(t.Context()))
			for _, want := range []int{0, 1, 3, 4} {
				if got := await(t, settleTime, "the next is served", served); got != want {
					t.Errorf("locker %d was served, want %d", got, want)
				}
			}
			wantWithin(t, "4 hand-offs past a dead waiter", time.Since(began), 2*nodeTimeout)
			cancel()
			wg.Wait()
			f.wantNoLocks()
		})
	}
}

// subscribers counts the channels somebody listens to, on all nodes.
func (f *realNodes) subscribers() (n int) {
	for _, c := range f.admin {
		n += len(c.PubSubChannels(f.t.Context(), "*").Val())
	}
	return n
}

// TestRealFreeLockIsFound hides the release from a waiter: it finds the lock free within a poll interval.
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
				f := startNodes(t, nodes)
				holder := acquire(t, f.locker(), "job", lock.TTL(longTTL))
				served, wg := queueUp(t.Context(), f, "job", 0, []*lock.Redlock{f.locker(), f.locker()})
				hide(f, func() { _ = holder.Release(t.Context()) })
				free := time.Now()
				for range 2 {
					await(t, 2*settleTime, "a waiter", served)
				}
				wantWithin(t, "finding the free lock", time.Since(free), pollInterval+2*nodeTimeout)
				wg.Wait()
				f.wantNoLocks()
			})
		}
	}
}
