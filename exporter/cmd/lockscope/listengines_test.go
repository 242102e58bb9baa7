package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// engineOf returns one of several engines of a process.
func engineOf(t *testing.T, servers []*redisproc.Server, db int, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr(), DB: db})
		t.Cleanup(func() { cmdtest.Must(t, c.Close()) })
		clients = append(clients, c)
	}
	l, err := redlock.New(clients, append([]lock.Option{
		lock.WithInstance("orders-1"), redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(time.Second),
	}, opts...)...)
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, l.Close()) })
	return l
}

// crossing holds one lock and waits for another.
type crossing struct {
	outer *engine.Engine
	holds string
	inner *engine.Engine
	waits string
}

// cross makes calls hold one lock each and then wait for another until the test ends.
func cross(t *testing.T, all ...crossing) {
	t.Helper()
	ctx, giveUp := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	var leases []lock.Lease
	for _, c := range all {
		lease, err := c.outer.Acquire(ctx, c.holds, lock.TTL(time.Minute))
		cmdtest.Must(t, err)
		leases = append(leases, lease)
	}
	for i, c := range all {
		waiting.Go(func() { _, _ = c.inner.Acquire(leases[i].Context(), c.waits) })
	}
	t.Cleanup(func() { giveUp(); waiting.Wait() })
}

// TestADeadlockOverEngines: engines of one process on the same nodes can deadlock like processes.
func TestADeadlockOverEngines(t *testing.T) {
	for name, build := range map[string]func(x, y, z *engine.Engine) []crossing{
		"each on its own": func(x, y, _ *engine.Engine) []crossing {
			return []crossing{{x, "order", x, "stock"}, {y, "stock", y, "order"}}
		},
		"over both": func(x, y, _ *engine.Engine) []crossing {
			return []crossing{{x, "order", y, "stock"}, {y, "stock", x, "order"}}
		},
		"one holds on the other": func(x, y, _ *engine.Engine) []crossing {
			return []crossing{{x, "order", y, "stock"}, {x, "stock", y, "order"}}
		},
		"three": func(x, y, z *engine.Engine) []crossing {
			return []crossing{{x, "order", y, "stock"}, {y, "stock", z, "truck"}, {z, "truck", x, "order"}}
		},
	} {
		for named, names := range map[string][]lock.Option{
			"of one name": {lock.WithBackend("redis"), lock.WithBackend("redis"), lock.WithBackend("redis")},
			"of several":  {lock.WithBackend("orders"), lock.WithBackend("stock"), lock.WithBackend("trucks")},
		} {
			t.Run(name+" "+named, func(t *testing.T) {
				t.Parallel()
				servers := locktest.Servers(t, 3)
				calls := build(engineOf(t, servers, 0, names[0]), engineOf(t, servers, 0, names[1]),
					engineOf(t, servers, 0, names[2]))
				cross(t, calls...)
				var r list.Document
				deadline := time.Now().Add(10 * time.Second)
				for len(r.Deadlocks) == 0 && time.Now().Before(deadline) {
					command(t, "list", "--redis", cmdtest.Addrs(servers...), "-o", "json").Decode(t, &r)
				}
				if len(r.Deadlocks) != 1 || strings.Count(r.Deadlocks[0], " holds ") != len(calls) {
					t.Fatalf("deadlocks %q", r.Deadlocks)
				}
			})
		}
	}
}

// TestEnginesOnOtherKeysAreNoDeadlock: the same name in another database, or with another prefix, is another lock.
func TestEnginesOnOtherKeysAreNoDeadlock(t *testing.T) {
	for name, other := range map[string]struct {
		db   int
		opts []lock.Option
	}{"another prefix": {0, []lock.Option{lock.WithPrefix("job:")}}, "another database": {1, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			x, y := engineOf(t, servers, 0), engineOf(t, servers, other.db, other.opts...)
			blocker := engineOf(t, servers, 0, lock.WithInstance("billing-2"))
			_, err := blocker.Acquire(t.Context(), "stock", lock.TTL(time.Minute))
			cmdtest.Must(t, err)
			keeps, err := x.Acquire(t.Context(), "order", lock.TTL(time.Minute))
			cmdtest.Must(t, err)
			_ = keeps
			// They hold order on y and wait for stock on x. No holder of stock waits for order on x.
			cross(t, crossing{y, "order", x, "stock"}, crossing{y, "stock", x, "order"})
			var r list.Document
			cmdtest.Eventually(t, "both wait", func() bool {
				command(t, "list", "--redis", cmdtest.Addrs(servers...), "-o", "json").Decode(t, &r)
				return waitsOf(r, "stock") == 1 && waitsOf(r, "order") == 1 && len(holdsOf(r, "stock")) == 1 &&
					len(holdsOf(r, "order")) == 1
			})
			if len(r.Deadlocks) != 0 {
				t.Errorf("deadlocks %q", r.Deadlocks)
			}
			for _, l := range r.Locks {
				if l.Waiting != nil && len(l.Waiting.Chain) > 0 {
					t.Errorf("the holder of %s waits for %q", l.Resource, l.Waiting.Chain)
				}
			}
			if text := command(t, "list", "--redis", cmdtest.Addrs(servers...), "--waiters").Out; strings.Contains(text,
				"DEADLOCK") {
				t.Error(text)
			}
		})
	}
}

func holdsOf(r list.Document, resource string) (all []string) {
	for _, l := range r.Locks {
		if l.Resource != resource || l.Waiting == nil {
			continue
		}
		for _, q := range l.Waiting.Queue {
			for _, h := range q.Holds {
				all = append(all, h.Resource)
			}
		}
	}
	return slices.Compact(all)
}

func waitsOf(r list.Document, resource string) int {
	for _, l := range r.Locks {
		if l.Resource == resource && l.Waiting != nil {
			return l.Waiting.Processes
		}
	}
	return 0
}
