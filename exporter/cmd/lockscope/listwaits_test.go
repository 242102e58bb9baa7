package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// lockingProcess is one that takes locks, as list sees it.
func lockingProcess(t *testing.T, name string, servers []*redisproc.Server) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, admin(t, s))
	}
	l, err := redlock.New(clients, lock.WithInstance(name), lock.WithCallSites(), redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(time.Second))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestListShowsWhoBlocksWhom is a chain and a deadlock over three processes, as a fourth reads it, with every node there, one dead
// and one hung.
func TestListShowsWhoBlocksWhom(t *testing.T) {
	for name, fault := range map[string]func(*redisproc.Server) error{
		"healthy": nil, "one node dead": (*redisproc.Server).Kill, "one node hung": (*redisproc.Server).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			p1, p2, p3 := lockingProcess(t, "orders-1", servers), lockingProcess(t, "stock-2", servers), lockingProcess(t, "truck-3", servers)
			ttl := lock.TTL(time.Minute)
			a, err := p1.Acquire(t.Context(), "order", ttl)
			must(t, err)
			b, err := p2.Acquire(t.Context(), "stock", ttl)
			must(t, err)
			c, err := p3.Acquire(t.Context(), "truck", ttl)
			must(t, err)
			if fault != nil {
				must(t, fault(servers[1]))
			}
			ctx, giveUp := context.WithCancel(t.Context())
			done := make(chan error, 3)
			for _, wait := range []struct {
				p    *engine.Engine
				held lock.Lease
				next string
			}{{p1, a, "stock"}, {p2, b, "order"}, {p3, c, "order"}} {
				waiting, end := context.WithCancel(wait.held.Context())
				context.AfterFunc(ctx, end)
				go func() {
					_, err := wait.p.Acquire(waiting, wait.next, ttl)
					done <- err
				}()
			}
			defer func() {
				giveUp()
				for range 3 {
					<-done
				}
			}()
			deadline := time.Now().Add(30 * time.Second)
			args := []string{"list", "--redis", addrs(servers...)}
			var r listReport
			for {
				o := command(t, append(args, "-o", "json")...)
				o.decode(t, &r)
				if len(r.Deadlocks) > 0 && waitsOf(r, "order") == 2 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("no deadlock in %+v", r)
				}
			}
			if text := r.Deadlocks[0]; len(r.Deadlocks) != 1 || !strings.HasPrefix(text, `"order" (fence `) || !strings.Contains(text, `waits for "stock" (fence`) {
				t.Errorf("deadlocks %q", r.Deadlocks)
			}
			o := command(t, append(args, "--waiters")...)
			o.want(t, o.status, "DEADLOCK:", `the holder of "order" waits for "stock"`, "orders-1", "truck-3", "lockscope/listwaits_test.go:")
		})
	}
}

func waitsOf(r listReport, resource string) int {
	for _, l := range r.Locks {
		if l.Resource == resource && l.Waiting != nil {
			return l.Waiting.Processes
		}
	}
	return 0
}

// TestListWithoutTheRightToReadQueues says so, and shows the rest.
func TestListWithoutTheRightToReadQueues(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	c := admin(t, server)
	set(t, c, "lock:a", ours, time.Minute)
	must(t, c.ZAdd(t.Context(), redlock.QueueKey("lock:a"), redis.Z{Score: 1, Member: "somebody"}).Err())
	must(t, c.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">pw", "%R~lock:*", "+@read", "+info", "+client|setname", "+scan", "+eval_ro", "+evalsha_ro").Err())
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("pw"), 0o600))
	o := command(t, "list", "--redis", "redis://reader@"+server.Addr(), "--redis-password-file", file)
	o.want(t, exitClean, "worker-7/42", "who waits is not known of every node", "NOPERM", "+zrange")
}
