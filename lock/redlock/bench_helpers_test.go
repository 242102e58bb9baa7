package redlock_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// benchClients returns plain clients of every server, closed after the benchmark.
func benchClients(b *testing.B, servers []*redisproc.Server, opt redis.Options) []*redis.Client {
	b.Helper()
	clients := make([]*redis.Client, 0, len(servers))
	for _, s := range servers {
		o := opt
		o.Addr = s.Addr()
		c := redis.NewClient(&o)
		b.Cleanup(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	return clients
}

// benchLocker returns a Redlock with its own connections, like another process.
func benchLocker(b *testing.B, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	b.Helper()
	var nodes []redis.UniversalClient
	for _, c := range benchClients(b, servers, redis.Options{PoolSize: 32}) {
		nodes = append(nodes, c)
	}
	l, err := redlock.New(nodes, append([]lock.Option{redlock.WithRestartQuarantine(0)}, opts...)...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func benchServers(b *testing.B, n int) []*redisproc.Server {
	b.Helper()
	return locktest.Servers(b, n)
}

// compareAndDelete is the usual unlock script.
var compareAndDelete = redis.NewScript(
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// floorLock is the least a lock can do with go-redis: SET NX PX and a compare-and-delete EVALSHA, sent to all nodes at
// once and finished when a quorum has answered. It has no fence, no validity, no renewal and no order.
type floorLock struct{ clients []*redis.Client }

func (f floorLock) pair(ctx context.Context, key string) error {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	token := hex.EncodeToString(raw[:])
	if err := f.onQuorum(func(c *redis.Client) error {
		return c.SetNX(ctx, key, token,
			10001*time.Millisecond).Err()
	}); err != nil {
		return err
	}
	return f.onQuorum(func(c *redis.Client) error { return compareAndDelete.Run(ctx, c, []string{key}, token).Err() })
}

func (f floorLock) onQuorum(do func(*redis.Client) error) error {
	if len(f.clients) == 1 {
		return do(f.clients[0])
	}
	answers := make(chan error, len(f.clients))
	for _, c := range f.clients {
		go func() { answers <- do(c) }()
	}
	for range len(f.clients)/2 + 1 {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}

func lockPair(ctx context.Context, l lock.Locker, resource string) error {
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}

// quantile sorts in place. It returns 0 for no samples.
func quantile(samples []time.Duration, q float64) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	slices.Sort(samples)
	return samples[min(int(q*float64(len(samples))), len(samples)-1)]
}

// workers runs do on n goroutines until d has passed, and returns how often it ran.
func workers(n int, d time.Duration, do func(worker, i int) error) (total int, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(d)
	for w := range n {
		wg.Go(func() {
			done := 0
			var failed error
			for ; time.Now().Before(end) && failed == nil; done++ {
				failed = do(w, done)
			}
			mu.Lock()
			defer mu.Unlock()
			total += done
			if failed != nil {
				err = failed
			}
		})
	}
	wg.Wait()
	return total, err
}
