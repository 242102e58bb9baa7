package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealClientsAreWoken: a release names the waiter in both protocols, and over connections that live for a second. Polls
// are an hour apart: a waiter whose message is lost shows.
func TestRealClientsAreWoken(t *testing.T) {
	for name, opt := range map[string]redis.Options{
		"RESP2": {Protocol: 2}, "RESP3": {Protocol: 3}, "connections of a second": {ConnMaxLifetime: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 1)
			locker := func() lock.Locker {
				opt := opt
				opt.Addr = f.servers[0].Addr()
				l, err := redlock.New([]redis.UniversalClient{plainClient(t, &opt)}, lock.WithPollInterval(time.Hour),
					lock.WithNodeTimeout(patience), lock.WithMaxTTL(4*patience+longTTL))
				must(t, err)
				t.Cleanup(func() { must(t, l.Close()) })
				return l
			}
			holder, waiter := locker(), locker()
			for range 3 { // the second wait and the third need a subscription that outlives its connection's second
				lease := acquire(t, holder, "job", lock.TTL(longTTL))
				ends := make(chan locktrace.WaitEnd, 10)
				got := make(chan error, 1)
				go func() {
					next, err := waiter.Acquire(locktrace.With(t.Context(), &locktrace.Trace{
						WaitEnd: func(_ context.Context, e locktrace.WaitEnd) { ends <- e },
					}), "job", lock.TTL(longTTL), lock.MaxWait(waitTime))
					if err == nil {
						err = next.Release(t.Context())
					}
					got <- err
				}()
				eventually(t, waitTime, "the waiter is in the queue", func() bool { return f.queued("job", 0) > 0 })
				<-time.After(1500 * time.Millisecond)
				must(t, lease.Release(t.Context()))
				must(t, <-got)
				if e := <-ends; !e.Named && len(ends) == 0 {
					t.Errorf("found by a poll: %+v", e)
				}
			}
		})
	}
}
