package semaphore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// realQueue has processes that wait on redis-servers, one after the other.
type realQueue struct {
	*testing.T
	k       int
	servers []*redisproc.Server
	held    []*semaphore.Permit
	sent    commands
	got     served
}

func newRealQueue(t *testing.T, servers, k int) *realQueue {
	t.Helper()
	q := &realQueue{T: t, k: k, servers: newServers(t, servers), got: make(served, 100)}
	s := newSemaphore(t, q.locker("holder"), k)
	for range k {
		p, err := s.Acquire(q.sent.in(t.Context()), lock.TTL(time.Minute))
		must(t, err)
		q.held = append(q.held, p)
	}
	return q
}

// locker is that of another process. It does not poll during the test.
func (q *realQueue) locker(name string) lock.Locker {
	q.Helper()
	return redisLocker(q, q.servers, lock.WithInstance(name), lock.WithPollInterval(time.Minute))
}

// join makes a process wait behind those that wait already.
func (q *realQueue) join(ctx context.Context, l lock.Locker, call, ahead int) {
	q.Helper()
	queues := make(chan struct{}, 1)
	ctx = locktrace.With(q.sent.in(ctx), &locktrace.Trace{WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
		if e.Kind == locktrace.WaitHolder && e.Ahead == ahead {
			select {
			case queues <- struct{}{}:
			default:
			}
		}
		return ctx
	}})
	s := newSemaphore(q, l, q.k)
	go func() {
		p, err := s.Acquire(ctx, lock.TTL(time.Minute))
		if err == nil {
			q.got <- servedPermit{call, p}
		}
	}()
	select {
	case <-queues:
	case <-time.After(20 * time.Second):
		q.Fatalf("waiter %d does not queue as number %d", call, ahead)
	}
}

// release releases the permit that is held for longest, and returns the call that gets the slot.
func (q *realQueue) release() (call int) {
	q.Helper()
	must(q, q.held[0].Release(q.Context()))
	select {
	case next := <-q.got:
		q.held = append(q.held[1:], next.permit)
		return next.call
	case <-time.After(20 * time.Second):
		q.Fatal("nobody gets the slot that was released")
		return 0
	}
}

// wantEmpty fails if a queue or what is kept for a waiter is left on a server.
func (q *realQueue) wantEmpty() {
	q.Helper()
	for _, p := range q.held {
		must(q, p.Release(q.Context()))
	}
	for _, s := range q.servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		var left []string
		for _, pattern := range []string{"lockscope:queue:*", "lockscope:next:*", "lockscope:waiter:*", "lock:*"} {
			left = append(left, c.Keys(q.Context(), pattern).Val()...)
		}
		if len(left) > 0 {
			q.Errorf("%s has %q", s.Addr(), left)
		}
	}
}

// TestRealQueueIsFirstComeFirstServed: processes get permits in the order in which they came.
func TestRealQueueIsFirstComeFirstServed(t *testing.T) {
	for _, servers := range []int{1, 5} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			q := newRealQueue(t, servers, 3)
			var order, want []int
			for i := range 6 {
				q.join(t.Context(), q.locker(fmt.Sprint("waiter ", i)), i, i)
				want = append(want, i)
			}
			for range 6 {
				order = append(order, q.release())
			}
			if !slices.Equal(order, want) {
				t.Errorf("served in the order %v", order)
			}
			q.wantEmpty()
		})
	}
}

// TestRealQueuePassesOverTheDead: the slot of a waiter that has died, or given up, goes to the next.
func TestRealQueuePassesOverTheDead(t *testing.T) {
	q := newRealQueue(t, 3, 2)
	dies := redisLocker(t, q.servers, lock.WithInstance("dies"))
	q.join(t.Context(), dies, 0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	q.join(ctx, q.locker("gives up"), 1, 1)
	q.join(t.Context(), q.locker("stays"), 2, 2)
	q.join(t.Context(), q.locker("stays, too"), 3, 3)
	must(t, dies.Close())
	cancel()
	if first, second := q.release(), q.release(); first != 2 || second != 3 {
		t.Errorf("waiters %d and %d are served", first, second)
	}
	q.wantEmpty()
}

// TestRealQueueWakesOne: a hand-off costs the same commands with 5 and with 50 processes that wait.
func TestRealQueueWakesOne(t *testing.T) {
	const handOffs = 4
	cost := func(waiters int) int64 {
		q := newRealQueue(t, 1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range waiters {
			q.join(ctx, q.locker(fmt.Sprint("waiter ", i)), i, i)
		}
		before := q.sent.n.Load()
		for i := range handOffs {
			if call := q.release(); call != i {
				t.Errorf("waiter %d is served as number %d", call, i)
			}
		}
		return q.sent.n.Load() - before
	}
	few, many := cost(5), cost(50)
	t.Logf("%d hand-offs: %d commands with 5 waiters, %d with 50", handOffs, few, many)
	if few != many || many != 2*handOffs {
		t.Errorf("%d hand-offs cost %d commands with 5 waiters, and %d with 50", handOffs, few, many)
	}
}
