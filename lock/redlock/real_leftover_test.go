package redlock_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
)

// connections lists the clients of a node and their subscriptions, without the client that asks.
func (f *realNodes) connections(node int) (others []string) {
	f.t.Helper()
	list, err := f.admin[node].ClientList(f.t.Context()).Result()
	must(f.t, err)
	for line := range strings.Lines(list) {
		if !strings.Contains(line, "cmd=client|list") && !strings.Contains(line, "cmd=client ") {
			others = append(others, strings.TrimSpace(line))
		}
	}
	return others
}

// TestRealCloseLeavesNothing closes with a held lease, with waiters, with subscriptions, and with nodes that do not
// answer.
func TestRealCloseLeavesNothing(t *testing.T) {
	for name, fail := range map[string]func(*realNodes){
		"healthy": func(*realNodes) {},
		"paused":  func(f *realNodes) { f.pause(0, 1) },
		"killed":  func(f *realNodes) { f.kill(0) },
	} {
		t.Run(name, func(t *testing.T) {
			f := startNodes(t, 3)
			for _, c := range f.admin {
				must(t, c.Ping(t.Context()).Err())
			}
			given := f.clients()
			before := leaktest.Running()
			rec := newRecorder()
			timeout := nodeTimeout // a Close waits for as long
			if name == "healthy" {
				timeout = patience
			}
			a, err := redlock.New(given, lock.WithNodeTimeout(timeout), redlock.WithRestartQuarantine(0))
			must(t, err)
			b, err := redlock.New(given, lock.WithNodeTimeout(timeout), redlock.WithRestartQuarantine(0))
			must(t, err)
			lease := acquire(t, a, "held", lock.TTL(longTTL))
			waiting := acquireAsync(rec.in(t.Context()), b, "held", lock.TTL(longTTL))
			local := acquireAsync(rec.in(t.Context()), b, "held", lock.TTL(longTTL))
			eventually(t, settleTime, "a waiter queues and listens",
				func() bool { return f.queued("held") == 1 && f.subscribers() > 0 })
			awaitEvents(t, rec, settleTime, 1, "a wait behind a caller of this process",
				func(e locktrace.WaitStart) bool { return e.Kind == locktrace.WaitLocal })
			fail(f)
			must(t, b.Close())
			for _, c := range []<-chan grant{waiting, local} {
				wantErr(t, await(t, settleTime, "the end of the wait", c).err, lock.ErrClosed)
			}
			if name == "healthy" && f.queued("held") > 0 {
				t.Error("a closed Redlock is in a queue")
			}
			must(t, a.Close())
			wantErr(t, context.Cause(lease.Context()), lock.ErrClosed)
			if _, err := a.Acquire(t.Context(), "late", lock.TTL(longTTL)); err == nil {
				t.Error("a closed Redlock acquires")
			} else {
				wantErr(t, err, lock.ErrClosed)
			}
			leaktest.Check(t, before)
			rec.wantPaired(t)
			if name == "paused" {
				f.resume(0, 1)
			}
			for _, i := range f.all() {
				if name == "killed" && i == 0 {
					continue
				}
				eventually(t, settleTime, "nobody is connected any more",
					func() bool { return len(f.connections(i)) == 0 })
			}
			for _, c := range given { // the caller still owns them
				must(t, c.Close())
			}
		})
	}
}

// TestRealGivenClientIsUntouched: the caller goes on using its own client, and closes it.
func TestRealGivenClientIsUntouched(t *testing.T) {
	f := startNodes(t, 1)
	given := plainClient(t, &redis.Options{Addr: f.servers[0].Addr(), PoolSize: 3})
	before := *given.Options()
	l := newLocker(t, []redis.UniversalClient{given})
	lease := acquire(t, l, "job", lock.TTL(longTTL))
	if after := given.Options(); after.MaxRetries != before.MaxRetries || after.ReadTimeout != before.ReadTimeout ||
		after.DialTimeout != before.DialTimeout || after.ContextTimeoutEnabled != before.ContextTimeoutEnabled ||
		after.OnConnect != nil {
		t.Error("the given client's options have changed")
	}
	if n := given.PoolStats().TotalConns; n != 0 {
		t.Errorf("lockscope used %d of the given client's connections", n)
	}
	must(t, given.Set(t.Context(), "mine", 1, 0).Err())
	must(t, given.Close())
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	f.wantNoLocks()
}
