package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// connectionIDs returns the ids of a node's connections without the test's own.
func (f *realNodes) connectionIDs(node int) (ids []string) {
	for _, line := range f.connections(node) {
		ids = append(ids, strings.Fields(line)[0])
	}
	return ids
}

// lastUsed returns the ids of the connections that have been idle for the fewest seconds. On a busy machine a locker has
// others, which it opened while it waited for an answer and has not used since.
func (f *realNodes) lastUsed(node int) (ids []string) {
	f.t.Helper()
	least := math.MaxInt
	for _, line := range f.connections(node) {
		_, rest, _ := strings.Cut(line, " idle=")
		digits, _, _ := strings.Cut(rest, " ")
		idle, err := strconv.Atoi(digits)
		must(f.t, err)
		if idle < least {
			least, ids = idle, nil
		}
		if idle == least {
			ids = append(ids, strings.Fields(line)[0])
		}
	}
	return ids
}

// TestRealManyCallersShareFewConnections, however many call and whatever the pool size of the caller's client.
func TestRealManyCallersShareFewConnections(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	l := f.locker(lock.WithNodeTimeout(patience))
	pairs(t, l, 64, 20)
	for i := range f.servers {
		if ids := f.connectionIDs(i); len(ids) > 4 {
			t.Errorf("node %d has %d connections", i, len(ids))
		}
	}
	f.wantNoLocks()
}

// TestRealIdleConnections: a connection is used after it has been idle for longer than a command may take, unless the
// caller's client keeps none that long.
func TestRealIdleConnections(t *testing.T) {
	t.Parallel()
	const idle = 1100 * time.Millisecond // four node timeouts, and more than a second
	for name, c := range map[string]struct {
		client redis.Options
		kept   bool
	}{
		"defaults":        {redis.Options{}, true},
		"ConnMaxIdleTime": {redis.Options{ConnMaxIdleTime: time.Second}, false},
		"ConnMaxLifetime": {redis.Options{ConnMaxLifetime: time.Second}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 1)
			c.client.Addr = f.servers[0].Addr()
			l := newLocker(t, []redis.UniversalClient{plainClient(t, &c.client)},
				lock.WithNodeTimeout(250*time.Millisecond))
			f.warm(l)
			before := f.connectionIDs(0)
			time.Sleep(idle)
			must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
			after := f.lastUsed(0)
			kept := slices.ContainsFunc(before, func(id string) bool { return slices.Contains(after, id) })
			if kept != c.kept {
				t.Errorf("connections %v before a pause, %v after it", before, after)
			}
		})
	}
}

// TestRealFullServer: a server that takes no more connections, and is slow, is not asked for one by each command.
func TestRealFullServer(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	proxy := proxyTo(t, f.servers[0])
	l := newLocker(t, f.through(proxy, 0), f.named(), lock.WithNodeTimeout(patience))
	f.warm(l)
	f.config("maxclients", "2", 0) // the test's own, and one of the locker
	proxy.SetDelay(5 * time.Millisecond)
	began := time.Now()
	pairs(t, l, 16, 20)
	info, err := f.admin[0].Info(t.Context(), "stats").Result()
	must(t, err)
	refused := redisinfo.Parse(info).Number("rejected_connections")
	if most := 4 + 3*int64(time.Since(began)/time.Second); refused == 0 || int64(refused) > most {
		t.Errorf("%d connections were refused in %v, want 1 to %d", refused, time.Since(began), most)
	}
}

// pairs makes callers acquire and release, each its own resource, this many times.
func pairs(t *testing.T, l lock.Locker, callers, times int) {
	t.Helper()
	done := make(chan error, callers)
	for c := range callers {
		go func() {
			var errs []error
			for range times {
				lease, err := l.Acquire(t.Context(), fmt.Sprint("own:", c), lock.TTL(longTTL))
				if err == nil {
					err = lease.Release(t.Context())
				}
				errs = append(errs, err)
			}
			done <- errors.Join(errs...)
		}()
	}
	for range callers {
		must(t, await(t, waitTime, "a caller", done))
	}
}

// TestRealHungServerKeepsItsConnection: calls end in time while a server hangs, and its connection is still used
// afterwards. With one node, the caller asks it itself and must return, too.
func TestRealHungServerKeepsItsConnection(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			f := startNodes(t, n)
			// A connection is given up after four node timeouts. On a busy machine the servers may resume later.
			l := f.locker(lock.WithNodeTimeout(soon / 2))
			f.warm(l)
			before := f.connectionIDs(0)
			f.pause(f.all()...)
			began := time.Now()
			_, err := l.Acquire(context.Background(), "job", lock.NoWait(), lock.TTL(longTTL))
			wantWithin(t, "acquire", time.Since(began), soon)
			wantErr(t, err, lock.ErrNoQuorum, driver.ErrTimeout)
			f.resume(f.all()...)
			kept := time.Since(began) < soon // and not given up
			f.wantNoLocks()
			must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
			// On a busy machine there may be a second one, which was still being made when the servers were stopped.
			if after := f.connectionIDs(0); n > 1 && kept && !slices.ContainsFunc(before,
				func(id string) bool { return slices.Contains(after, id) }) {
				t.Errorf("connections were %v and are %v", before, after)
			}
		})
	}
}

// TestRealCancelledWhileAsking: the only node hangs, and the caller, which asks it on its own goroutine, gives up.
func TestRealCancelledWhileAsking(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	l := f.locker(lock.WithNodeTimeout(patience))
	f.warm(l)
	f.pause(0)
	ctx, cancel := context.WithCancel(t.Context())
	asking := acquireAsync(ctx, l, "job", lock.TTL(longTTL))
	time.Sleep(nodeTimeout / 10) // by then it is asking; if not, it is cancelled before
	cancel()
	cancelled := time.Now()
	g := await(t, patience, "the cancelled Acquire", asking)
	wantWithin(t, "giving up", g.at.Sub(cancelled), soon)
	wantErr(t, g.err, context.Canceled)
	f.resume(0)
	f.wantNoLocks()
	must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
}

// TestRealClosedIdleConnection: no acquire fails because a server closed idle connections or restarted.
func TestRealClosedIdleConnection(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		f := startNodes(t, n)
		l := f.locker(lock.WithNodeTimeout(patience))
		f.warm(l)
		for i := range f.servers {
			must(t, f.admin[i].ClientKillByFilter(t.Context(), "SKIPME", "yes").Err())
		}
		must(t, acquire(t, l, "job", lock.NoWait(), lock.TTL(longTTL)).Release(t.Context()))
	}
}

// TestRealDeadNodeIsNotSent: a request that was never sent needs no undoing.
func TestRealDeadNodeIsNotSent(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 3), newRecorder()
	l := f.locker()
	f.warm(l)
	f.kill(1)
	for range 20 {
		lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
		must(t, err)
		must(t, lease.Release(t.Context()))
	}
	refused := func(e locktrace.NodeEnd) bool {
		return e.Op == lock.OpAcquire && errors.Is(e.Err, driver.ErrNotSent) &&
			driver.ClassOf(e.Err) == driver.Unreachable
	}
	awaitEvents(t, rec, settleTime, 1, "an acquire that was not sent", refused)
}

// panicking is a hook of the caller's client.
type panicking struct{ redis.Hook }

func (panicking) DialHook(next redis.DialHook) redis.DialHook { return next }
func (panicking) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			panic("hook")
		}
		return nil
	}
}
func (panicking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestRealPanickingHook: a panic in a hook of the caller's client fails that call only.
func TestRealPanickingHook(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	clients := f.clients()
	clients[0].AddHook(panicking{})
	l := newLocker(t, clients)
	must(t, acquire(t, l, "job", lock.TTL(longTTL)).Release(t.Context()))
	single := newLocker(t, clients[:1])
	_, err := single.Acquire(t.Context(), "other", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum)
	wantText(t, err, "hook")
}
