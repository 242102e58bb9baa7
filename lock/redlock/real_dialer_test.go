package redlock_test

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealDeafDialer: the caller's dialer hangs and ignores its context, as one through a proxy may. Calls end in time,
// they leave no goroutines behind, and Close does not hang.
func TestRealDeafDialer(t *testing.T) {
	hang := make(chan struct{})
	given := plainClient(t, &redis.Options{
		Addr: "10.0.0.1:6379", DialTimeout: 2 * nodeTimeout, PoolSize: 1000,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			<-hang
			return nil, net.ErrClosed
		},
	})
	l, err := redlock.New([]redis.UniversalClient{given}, lock.WithNodeTimeout(time.Millisecond))
	must(t, err)
	before := runtime.NumGoroutine()
	for range 500 {
		began := time.Now()
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, lock.ErrNoQuorum)
		wantWithin(t, "acquire", time.Since(began), settleTime)
	}
	// Late dials, idle workers, and the requests of go-redis that are under way.
	if more := runtime.NumGoroutine() - before; more > 150 {
		t.Errorf("%d goroutines more after 500 calls", more)
	}
	began := time.Now()
	err = l.Close()
	wantWithin(t, "Close", time.Since(began), settleTime)
	wantText(t, err, "10.0.0.1:6379", "Dialer")
	close(hang)
}
