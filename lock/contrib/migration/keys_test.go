package migration_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/migration"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// A server that does not answer must not be mistaken for a machine that is busy.
const (
	nodeTimeout = 2 * time.Second
	suiteTTL    = 4 * nodeTimeout
)

func client(t testing.TB, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func stringKeys(t testing.TB, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, client(t, s))
	}
	return closing(t)(migration.StringKeys("old:", clients, append(options(), opts...)...))
}

func redissonKeys(t testing.TB, s *redisproc.Server) *engine.Engine {
	t.Helper()
	return closing(t)(migration.RedissonKeys("old:", client(t, s), options()...))
}

func options() []lock.Option {
	return []lock.Option{lock.WithNodeTimeout(nodeTimeout), lock.WithPollInterval(10 * time.Millisecond)}
}

func closing(t testing.TB) func(*engine.Engine, error) *engine.Engine {
	return func(e *engine.Engine, err error) *engine.Engine {
		t.Helper()
		must(t, err)
		t.Cleanup(func() { must(t, e.Close()) })
		return e
	}
}

func TestKeysKeepTheContract(t *testing.T) {
	t.Parallel()
	t.Run("strings on three servers", func(t *testing.T) {
		t.Parallel()
		servers := locktest.Servers(t, 3)
		locktest.Run(t, locktest.Driver{
			New: func(t testing.TB, opts ...lock.Option) lock.Locker { return stringKeys(t, servers, opts...) },
			TTL: suiteTTL, NoFences: true,
		})
	})
	t.Run("Redisson", func(t *testing.T) {
		t.Parallel()
		servers := locktest.Servers(t, 1)
		locktest.Run(t, locktest.Driver{
			New: func(t testing.TB, _ ...lock.Option) lock.Locker { return redissonKeys(t, servers[0]) },
			TTL: suiteTTL, NoFences: true, NoHolders: true,
		})
	})
}

// TestForms is what the keys look like to the other library.
func TestForms(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 2)
	c := client(t, servers[0])
	lease, err := stringKeys(t, servers[:1]).Acquire(t.Context(), "job")
	must(t, err)
	if ok, err := c.SetNX(t.Context(), "old:job", "theirs", time.Minute).Result(); ok || err != nil {
		t.Errorf("SET NX: %v, %v", ok, err)
	}
	must(t, lease.Release(t.Context()))
	if n := c.Exists(t.Context(), "old:job").Val(); n != 0 {
		t.Error("the key is still there")
	}

	c = client(t, servers[1])
	waiter := c.Subscribe(t.Context(), "redisson_lock__channel:{old:job}")
	defer waiter.Close()
	_, err = waiter.Receive(t.Context())
	must(t, err)
	lease, err = redissonKeys(t, servers[1]).Acquire(t.Context(), "job")
	must(t, err)
	fields := c.HGetAll(t.Context(), "old:job").Val()
	for field, count := range fields {
		if !strings.HasSuffix(field, ":1") || count != "1" || len(fields) != 1 {
			t.Errorf("the hash is %v", fields)
		}
	}
	if ttl := c.PTTL(t.Context(), "old:job").Val(); ttl <= 0 || ttl > lock.DefaultTTL || len(fields) == 0 {
		t.Errorf("fields %v, TTL %v", fields, ttl)
	}
	must(t, lease.Release(t.Context()))
	if m, err := waiter.ReceiveMessage(t.Context()); err != nil || m.Payload != "0" {
		t.Errorf("Redisson's waiters get %v, %v", m, err)
	}
}

// TestTheirsIsLeftAlone: a lease does not extend or delete what the other library has put there.
func TestTheirsIsLeftAlone(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 1)
	c := client(t, servers[0])
	for name, form := range map[string]struct {
		l    *engine.Engine
		take func() error
	}{
		"strings":  {stringKeys(t, servers), func() error { return c.Set(t.Context(), "old:a", "theirs", 0).Err() }},
		"Redisson": {redissonKeys(t, servers[0]), func() error { return c.HSet(t.Context(), "old:a", "u:7", 1).Err() }},
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := form.l.Acquire(t.Context(), "a", lock.NoRenew())
			must(t, err)
			must(t, c.Del(t.Context(), "old:a").Err())
			must(t, form.take())
			wantErr(t, lease.Extend(t.Context()), lock.ErrLost)
			wantErr(t, lease.Release(t.Context()), lock.ErrNotHeld)
			_, err = form.l.Acquire(t.Context(), "a", lock.NoWait())
			wantErr(t, err, lock.ErrHeld)
			if strings.Contains(err.Error(), "theirs") {
				t.Errorf("it quotes the value: %v", err)
			}
			must(t, c.Del(t.Context(), "old:a").Err())
		})
	}
}

// TestAnotherForm of keys is refused, and the error says so.
func TestAnotherForm(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 1)
	lease, err := stringKeys(t, servers).Acquire(t.Context(), "job")
	must(t, err)
	_, err = redissonKeys(t, servers[0]).Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, driver.ErrMisconfigured)
	must(t, lease.Release(t.Context()))
}

// TestWrongClients are refused before anything is sent.
func TestWrongClients(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	for _, clients := range [][]redis.UniversalClient{nil, {nil}, {c, (*redis.Client)(nil)}, {(*redis.Ring)(nil)}} {
		if _, err := migration.StringKeys("", clients); !errors.Is(err, lock.ErrInvalidNode) {
			t.Errorf("%v: %v", clients, err)
		}
	}
	_, err := migration.RedissonKeys("", c, lock.WithPollInterval(0))
	wantErr(t, err, lock.ErrInvalidOption)
}
