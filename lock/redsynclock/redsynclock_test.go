package redsynclock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	client "github.com/redis/go-redis/v9"

	"github.com/go-redsync/redsync/v4"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A server that does not answer must not be mistaken for a machine that is busy.
const (
	nodeTimeout = 2 * time.Second
	suiteTTL    = 4 * nodeTimeout
	patience    = 30 * time.Second
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("%v; want %v", err, target)
		}
	}
}

// pools are what a process has that uses redsync.
func pools(t testing.TB, servers ...*redisproc.Server) []redis.Pool {
	t.Helper()
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	return poolsOf(t, addrs)
}

func poolsOf(t testing.TB, addrs []string) (all []redis.Pool) {
	t.Helper()
	for _, addr := range addrs {
		c := client.NewClient(&client.Options{Addr: addr, ContextTimeoutEnabled: true})
		t.Cleanup(func() { must(t, c.Close()) })
		all = append(all, goredis.NewPool(c))
	}
	return all
}

func closing(t testing.TB) func(*engine.Engine, error) *engine.Engine {
	return func(l *engine.Engine, err error) *engine.Engine {
		t.Helper()
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
}

func locker(t testing.TB, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	return closing(t)(redsynclock.New(pools(t, servers...),
		append([]lock.Option{lock.WithNodeTimeout(nodeTimeout)}, opts...)...))
}

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), resource, append([]lock.AcquireOption{lock.MaxWait(patience)}, opts...)...)
	must(t, err)
	return lease
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"one pool": 1, "three pools": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, n)
			d := locktest.Driver{
				New:          func(t testing.TB, opts ...lock.Option) lock.Locker { return locker(t, servers, opts...) },
				Capabilities: driver.Capabilities{Peek: true}, NoFences: true, TTL: suiteTTL,
			}
			if n > 1 {
				d.Fault = func(t testing.TB) {
					must(t, servers[n-1].Pause())
					time.Sleep(time.Second)
					must(t, servers[n-1].Resume())
					must(t, servers[n-1].Kill())
				}
			}
			locktest.Run(t, d)
		})
	}
}

func TestConformanceOfWrap(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 3)
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			opts = append(opts, lock.WithNodeTimeout(nodeTimeout))
			return closing(t)(redsynclock.Wrap(redsync.New(pools(t, servers...)...), opts...))
		},
		NoFences: true, NoHolders: true, TTL: suiteTTL,
	})
}

// TestBadInput is refused before a server is asked.
func TestBadInput(t *testing.T) {
	nobody := client.NewClient(&client.Options{Addr: "127.0.0.1:1"})
	defer func() { must(t, nobody.Close()) }()
	somewhere := goredis.NewPool(nobody)
	for name, c := range map[string]struct {
		pools []redis.Pool
		opts  []lock.Option
		want  error
	}{
		"no pools":   {nil, nil, lock.ErrInvalidNode},
		"a nil pool": {[]redis.Pool{nil}, nil, lock.ErrInvalidNode},
		"no expiry": {[]redis.Pool{somewhere}, []lock.Option{redsynclock.WithMutexOptions(redsync.WithExpiry(0))},
			lock.ErrInvalidTTL},
		"two names":  {[]redis.Pool{somewhere}, []lock.Option{lock.WithNodeNames("a", "b")}, lock.ErrInvalidOption},
		"nil option": {[]redis.Pool{somewhere}, []lock.Option{nil}, lock.ErrInvalidOption},
		"a value": {[]redis.Pool{somewhere}, []lock.Option{redsynclock.WithMutexOptions(redsync.WithValue("v"))},
			lock.ErrInvalidOption},
		"a foreign one": {[]redis.Pool{somewhere}, []lock.Option{struct{ lock.DriverOption }{}},
			lock.ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := redsynclock.New(c.pools, c.opts...)
			wantErr(t, err, c.want)
		})
	}
	_, err := redsynclock.Wrap(nil)
	wantErr(t, err, lock.ErrInvalidNode)
}

// TestTheExpiryIsBlamed where it is the TTL that the options do not allow, and nobody gave WithDefaults.
func TestTheExpiryIsBlamed(t *testing.T) {
	nobody := client.NewClient(&client.Options{Addr: "127.0.0.1:1"})
	defer func() { must(t, nobody.Close()) }()
	for name, opts := range map[string][]lock.Option{
		"8s is above MaxTTL 3s":                    {lock.WithMaxTTL(3 * time.Second)},
		"8s is too short for a node timeout of 5s": {lock.WithNodeTimeout(5 * time.Second)},
	} {
		_, err := redsynclock.New([]redis.Pool{goredis.NewPool(nobody)}, opts...)
		wantErr(t, err, lock.ErrInvalidTTL)
		if text := err.Error(); strings.Contains(text, "WithDefaults") || !strings.Contains(text, name) ||
			!strings.Contains(text, "redsync.WithExpiry") {
			t.Error(text)
		}
	}
	_, err := redsynclock.New([]redis.Pool{goredis.NewPool(nobody)}, lock.WithDefaults(lock.TTL(time.Hour)))
	if wantErr(t, err, lock.ErrInvalidTTL); !strings.Contains(err.Error(), "WithDefaults") {
		t.Error(err)
	}
}

// TestOptionsWithoutEffect are refused, and named, before a node is asked. Those that do nothing are not.
func TestOptionsWithoutEffect(t *testing.T) {
	rs := redsynclock.Over(nil) // which is an error of its own
	for name, opt := range map[string]redsync.Option{
		"WithSetNXOnExtend": redsync.WithSetNXOnExtend(), "WithValue": redsync.WithValue("v"),
		"WithFailFast": redsync.WithFailFast(true), "WithDriftFactor": redsync.WithDriftFactor(0.1),
		"WithGenValueFunc": redsync.WithGenValueFunc(func() (string, error) { return "v", nil }),
		"WithShufflePools": redsync.WithShufflePools(true), "WithTimeoutFactor": redsync.WithTimeoutFactor(0.1),
	} {
		for _, try := range []func() error{rs.NewMutex("a", opt).Lock, rs.NewMutex("a", opt).TryLock} {
			err := try()
			if wantErr(t, err, lock.ErrInvalidOption, redsync.ErrFailed); !strings.Contains(err.Error(), name+" ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wantErr(t, rs.NewMutex("a").Lock(), lock.ErrInvalidOption, redsync.ErrFailed)
	l, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	m := redsynclock.Over(l).NewMutex("a", redsync.WithFailFast(false), redsync.WithRetryDelay(time.Second),
		redsync.WithDriftFactor(0.01), redsync.WithExpiry(20*time.Second))
	must(t, m.Lock())
	_, err = m.Unlock()
	must(t, err)
}

// TestExpiryIsTheTTL, where no Acquire says otherwise, also one longer than package lock's MaxTTL is by default.
func TestExpiryIsTheTTL(t *testing.T) {
	servers := locktest.Servers(t, 1)
	for want, opts := range map[time.Duration][]redsync.Option{
		8 * time.Second: nil, 2 * time.Minute: {redsync.WithExpiry(2 * time.Minute), redsync.WithTries(1 << 40)},
	} {
		lease := acquire(t, locker(t, servers, redsynclock.WithMutexOptions(opts...)), want.String())
		if left := lease.Remaining(); left > want || left < want*9/10 {
			t.Errorf("%v are left of %v", left, want)
		}
		if lease.Fence() != 0 {
			t.Errorf("fence %d", lease.Fence())
		}
		must(t, lease.Release(context.Background()))
	}
}
