package semaphore_test

import (
	"fmt"
	"math/rand/v2"
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

const realTTL = 8 * time.Second

// newServers are new redis-servers that vote for lockers with these options.
func newServers(t *testing.T, n int, opts ...lock.Option) []*redisproc.Server {
	t.Helper()
	servers := locktest.Servers(t, n)
	var clients []redis.UniversalClient
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		clients = append(clients, c)
	}
	must(t, redlock.Vouch(t.Context(), clients, opts...))
	return servers
}

func redisLocker(t testing.TB, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	l, err := redlock.Open(urls, append([]lock.Option{lock.WithNodeTimeout(2 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestRealNodeHangs: callers of four engines contend for three permits while one server of five hangs, and later another
// one is killed. Never more than three permits are valid, and every caller gets its turns.
func TestRealNodeHangs(t *testing.T) {
	t.Parallel()
	servers := newServers(t, 5)
	j := &judge{t: t, k: 3}
	var callers sync.WaitGroup
	for p := range 4 {
		s := newSemaphore(t, redisLocker(t, servers, lock.WithInstance(fmt.Sprint("process", p))), 3)
		for range 3 {
			callers.Go(func() {
				for range 15 {
					p, err := s.Acquire(t.Context(), lock.TTL(realTTL))
					if err != nil {
						t.Error(err)
						return
					}
					j.begins(p)
					time.Sleep(rand.N(30 * time.Millisecond))
					j.ends(p)
					if err := p.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	must(t, servers[2].Pause())
	time.AfterFunc(time.Second, func() { _ = servers[4].Kill() })
	callers.Wait()
	must(t, servers[2].Resume())
}
