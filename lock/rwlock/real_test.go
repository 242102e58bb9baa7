package rwlock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

const realTTL = 8 * time.Second

// newServers are new redis-servers that vote.
func newServers(t *testing.T, n int) []*redisproc.Server {
	t.Helper()
	servers := locktest.Servers(t, n)
	var clients []redis.UniversalClient
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		clients = append(clients, c)
	}
	must(t, redlock.Vouch(t.Context(), clients))
	return servers
}

func redisLocker(t testing.TB, servers []*redisproc.Server, opts ...lock.Option) lock.Locker {
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

// TestRealNodeHangs: callers of three engines read and write while one server of three hangs, goes on and is killed.
// Another node never fails meanwhile, so every caller gets its turns, and no writer is beside another holder.
func TestRealNodeHangs(t *testing.T) {
	servers := newServers(t, 3)
	j := &judge{}
	var callers sync.WaitGroup
	for p := range 3 {
		rw := of(t, redisLocker(t, servers, lock.WithInstance(fmt.Sprint("process", p))))
		for caller := range 3 {
			callers.Go(func() {
				for round := range 12 {
					acquire, writes := rw.RLock, (caller+round)%3 == 0
					if writes {
						acquire = rw.Lock
					}
					atLeast := j.asks(writes)
					lease, err := acquire(t.Context(), lock.TTL(realTTL))
					if err != nil {
						t.Error(err)
						return
					}
					j.begins(lease, writes, atLeast)
					time.Sleep(rand.N(30 * time.Millisecond))
					j.ends(lease)
					if err := lease.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	must(t, servers[2].Pause())
	time.Sleep(2 * time.Second)
	must(t, servers[2].Resume())
	time.Sleep(time.Second)
	must(t, servers[2].Kill())
	callers.Wait()
	if broken, _ := j.verdict(); len(broken) > 0 {
		t.Error(broken)
	}
}

// TestRealKeys: readers are a hash that expires with the last of them, and nothing is left behind that does not expire,
// except the fence counter and the marker.
func TestRealKeys(t *testing.T) {
	servers := newServers(t, 1)
	client := redis.NewClient(&redis.Options{Addr: servers[0].Addr()})
	defer client.Close()
	rw := of(t, redisLocker(t, servers))
	long, err := rw.RLock(t.Context(), lock.TTL(30*time.Second))
	must(t, err)
	short, err := rw.RLock(t.Context(), lock.TTL(realTTL))
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := rw.Lock(ctx, lock.TTL(realTTL)); err == nil {
		t.Error("a writer beside readers")
	}
	if kind := client.Type(t.Context(), "lock:prices").Val(); kind != "hash" {
		t.Errorf("readers are a %s", kind)
	}
	if n := client.HLen(t.Context(), "lock:prices").Val(); n != 2 {
		t.Errorf("%d readers", n)
	}
	if left := client.PTTL(t.Context(), "lock:prices").Val(); left < 20*time.Second {
		t.Errorf("the readers expire in %v", left)
	}
	must(t, long.Release(t.Context()))
	if left := client.PTTL(t.Context(), "lock:prices").Val(); left <= 0 || left > realTTL {
		t.Errorf("the last reader expires in %v", left)
	}
	must(t, short.Release(t.Context()))
	keys, err := client.Keys(t.Context(), "lockscope:*").Result()
	must(t, err)
	for _, key := range append(keys, "lock:prices") {
		left := client.PTTL(t.Context(), key).Val()
		if left < 0 && left != -2 && key != "lockscope:life" && key[:len("lockscope:fence")] != "lockscope:fence" {
			t.Errorf("%s does not expire", key)
		}
		if key == "lock:prices" && left != -2 {
			t.Errorf("the readers are still there: %v", left)
		}
	}
}

// TestRealLostReaderIsNotPutBack on a server where a writer waits for its place.
func TestRealLostReaderIsNotPutBack(t *testing.T) {
	servers := newServers(t, 3)
	client := redis.NewClient(&redis.Options{Addr: servers[0].Addr()})
	defer client.Close()
	rw := of(t, redisLocker(t, servers))
	lost, err := rw.RLock(t.Context(), lock.TTL(4*realTTL), lock.NoRenew())
	must(t, err)
	readers := func(n int) []string {
		for range 1000 {
			if client.HLen(t.Context(), "lock:prices").Val() == int64(n) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return client.HKeys(t.Context(), "lock:prices").Val()
	}
	token := readers(1)
	other, err := rw.RLock(t.Context(), lock.TTL(4*realTTL), lock.NoRenew())
	must(t, err)
	readers(2)
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = of(t, redisLocker(t, servers)).Lock(ctx, lock.TTL(4*realTTL))
	}()
	for range 1000 {
		if client.Exists(t.Context(), "lockscope:bars:{lock:prices}").Val() == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(t, client.HDel(t.Context(), "lock:prices", token...).Err())
	must(t, servers[2].Kill()) // so that Extend waits for the answers of both others
	if err := lost.Extend(t.Context()); err == nil {
		t.Error("extended by one server")
	}
	if left := readers(1); len(left) != 1 || left[0] == token[0] {
		t.Errorf("%d readers", len(left))
	}
	giveUp()
	<-gone
	must(t, other.Release(t.Context()))
}
