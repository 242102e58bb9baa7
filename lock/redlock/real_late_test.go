package redlock_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestRealLateSetAfterRelease lets an acquire reach one node long after the lease was released. It covers a release
// that overtakes the acquire (on another connection, as after a broken route) and a release that could not reach the
// node either.
func TestRealLateSetAfterRelease(t *testing.T) {
	for name, overtaken := range map[string]bool{"release gets through": true, "release is late too": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, rec := startNodes(t, 3), newRecorder()
			proxy := proxyTo(t, f.servers[2])
			var detour atomic.Bool
			clients := f.through(proxy, 2)
			clients[2] = plainClient(t, &redis.Options{Addr: proxy.Addr(),
				Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
					if detour.Load() {
						addr = f.servers[2].Addr()
					}
					return new(net.Dialer).DialContext(ctx, network, addr)
				}})
			l := newLocker(t, clients)
			f.warm(l)

			proxy.Hold()
			detour.Store(overtaken)
			lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
			must(t, err)
			eventually(t, settleTime, "the acquire is held on its way", func() bool { return proxy.Held() > 0 })
			must(t, lease.Release(t.Context()))
			rec.wantPaired(t)
			f.wantNoLocks()
			proxy.Flow()
			eventually(t, settleTime, "the acquire has arrived", func() bool { return proxy.Held() == 0 })
			f.settled(2)
			f.wantNoLocks()
			if tombs := f.keys("lockscope:tomb:*", 2); overtaken && len(tombs) == 0 {
				t.Error("there is no tombstone: nothing was late")
			}
			// The lock is free for others, also on that node.
			f.kill(0)
			other := f.locker(lock.WithNodeTimeout(patience))
			must(t, acquire(t, other, "job", lock.NoWait(), lock.TTL(longTTL)).Release(t.Context()))
		})
	}
}

// settled waits until the node has run every script that reached it: its script counter stands still.
func (f *realNodes) settled(node int) {
	f.t.Helper()
	last, since := "", time.Now()
	eventually(f.t, settleTime, "the node is idle", func() bool {
		now := f.admin[node].Info(f.t.Context(), "commandstats").Val()
		calls := statsOf(now, "evalsha", "eval", "set")
		if calls != last {
			last, since = calls, time.Now()
		}
		return time.Since(since) > nodeTimeout/2
	})
}

// TestRealPausedNodeCarriesOutLater stops a node with the acquire in its socket. When it resumes, no process knows the
// lock any more.
func TestRealPausedNodeCarriesOutLater(t *testing.T) {
	f, rec := startNodes(t, 3), newRecorder()
	l := f.locker()
	f.warm(l)
	f.pause(2)
	lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
	must(t, err)
	// Requests that were not sent before the release are never sent.
	asked := func(e locktrace.NodeStart) bool { return e.Op == lock.OpAcquire }
	awaitEvents(t, rec, settleTime, len(f.servers), "a node asked", asked)
	must(t, lease.Release(t.Context()))
	rec.wantPaired(t) // every command to the paused node was given up
	f.resume(2)
	f.settled(2)
	f.wantNoLocks()
	if n := of(rec, func(e locktrace.NodeEnd) bool { return e.Op == lock.OpAcquire && e.Err != nil }); n != 1 {
		t.Errorf("%d acquires got no answer, want 1", n)
	}
}
