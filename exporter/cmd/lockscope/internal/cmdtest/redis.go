package cmdtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Marked returns what lies at the marker of each server.
func Marked(t testing.TB, servers ...*redisproc.Server) (all []string) {
	t.Helper()
	for _, s := range servers {
		if text := Admin(t, s).Get(t.Context(), "lockscope:life").Val(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// Locks takes a lock as a service with the default guard does.
func Locks(t testing.TB, servers ...*redisproc.Server) error {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	l, err := redlock.Open(urls, lock.WithNodeTimeout(2*time.Second))
	Must(t, err)
	defer func() { Must(t, l.Close()) }()
	return lock.Do(t.Context(), l, "order:1001", func(context.Context, lock.Lease) error { return nil }, lock.NoWait())
}

// LockingProcess is an engine that list shows as a process with this name.
func LockingProcess(t testing.TB, name string, servers []*redisproc.Server) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, Admin(t, s))
	}
	l, err := redlock.New(clients, lock.WithInstance(name), lock.WithCallSites(), redlock.WithRestartQuarantine(0),
		lock.WithNodeTimeout(time.Second))
	Must(t, err)
	t.Cleanup(func() { Must(t, l.Close()) })
	return l
}

// Admin is a client that may do everything. It waits as long as a busy machine may take.
func Admin(t testing.TB, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true, MaxRetries: -1,
		DialTimeout: time.Minute, ReadTimeout: time.Minute, WriteTimeout: time.Minute})
	t.Cleanup(func() { Must(t, c.Close()) })
	return c
}

// Set writes a key; with a ttl of 0 it never expires.
func Set(t testing.TB, c redis.Cmdable, key, value string, ttl time.Duration) {
	t.Helper()
	Must(t, c.Set(t.Context(), key, value, ttl).Err())
}

// SetReader makes a reader of a lock, and returns its token, which is a secret. Its time ends after left, which may be
// in the past. With a ttl of 0 the key never expires.
func SetReader(t testing.TB, c redis.Cmdable, key string, left, ttl time.Duration) (token string) {
	t.Helper()
	token = fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:32]
	value := fmt.Sprintf("%d:17|worker-7/42|%d||a.1|||read", time.Now().Add(left).UnixMilli(),
		time.Now().Add(-time.Minute).UnixMilli())
	Must(t, c.HSet(t.Context(), key, token, value).Err())
	if ttl > 0 {
		Must(t, c.PExpire(t.Context(), key, ttl).Err())
	}
	return token
}

// VouchFor lets new servers vote at once.
func VouchFor(t testing.TB, servers ...*redisproc.Server) {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, Admin(t, s))
	}
	Must(t, redlock.Vouch(t.Context(), clients))
}

// Addrs is the value of --redis that names these servers.
func Addrs(servers ...*redisproc.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr())
	}
	return strings.Join(all, ",")
}

// Ours is a value as package redlock writes it; its token is a secret.
const (
	SecretToken = "00112233445566778899aabbccddeeff"
	Ours        = SecretToken + ":1763000000000001|worker-7/42|1763000000000||"
)

// Plant makes n locks that are fine.
func Plant(t testing.TB, c *redis.Client, n int) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), "v", time.Hour)
	}
	_, err := pipe.Exec(t.Context())
	Must(t, err)
}
