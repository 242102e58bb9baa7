package list

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// TestListShowsWhoBlocksWhom: a chain and a deadlock over three processes, read by a fourth, with every node up, one
// dead, and one that hangs.
func TestListShowsWhoBlocksWhom(t *testing.T) {
	for name, fault := range map[string]func(*redisproc.Server) error{
		"healthy": nil, "one node dead": (*redisproc.Server).Kill, "one node hung": (*redisproc.Server).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			p1, p2, p3 := cmdtest.LockingProcess(t, "orders-1", servers), cmdtest.LockingProcess(t, "stock-2", servers),
				cmdtest.LockingProcess(t, "truck-3", servers)
			ttl := lock.TTL(time.Minute)
			a, err := p1.Acquire(t.Context(), "order", ttl)
			cmdtest.Must(t, err)
			b, err := p2.Acquire(t.Context(), "stock", ttl)
			cmdtest.Must(t, err)
			c, err := p3.Acquire(t.Context(), "truck", ttl)
			cmdtest.Must(t, err)
			if fault != nil {
				everywhere(t, servers, "order", "stock", "truck")
				cmdtest.Must(t, fault(servers[1]))
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
			args := []string{"list", "--redis", cmdtest.Addrs(servers...)}
			var r document
			for {
				o := command(t, append(args, "-o", "json")...)
				o.Decode(t, &r)
				if len(r.Deadlocks) > 0 && waitsOf(r, "order") == 2 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("no deadlock in %+v", r)
				}
			}
			want := "orders-1 holds order and waits for stock; stock-2 holds stock and waits for order"
			if len(r.Deadlocks) != 1 || r.Deadlocks[0] != want {
				t.Errorf("deadlocks %q, want %q", r.Deadlocks, want)
			}
			o := command(t, append(args, "--waiters")...)
			o.Want(t, o.Status, "DEADLOCK: "+want, `the holder of "order" waits for "stock"`, "orders-1", "truck-3",
				"list/waits_test.go:")
		})
	}
}

// everywhere waits until all servers have the locks: a server that is late has its vote only with the next renewal.
func everywhere(t *testing.T, servers []*redisproc.Server, resources ...string) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for _, s := range servers {
		c := cmdtest.Admin(t, s)
		for _, resource := range resources {
			for c.Exists(t.Context(), lock.DefaultPrefix+resource).Val() == 0 {
				if time.Now().After(end) {
					t.Fatalf("%s has no %s", s.Addr(), resource)
				}
			}
		}
	}
}

func waitsOf(r document, resource string) int {
	for _, l := range r.Locks {
		if l.Resource == resource && l.Waiting != nil {
			return l.Waiting.Processes
		}
	}
	return 0
}

// TestListWithoutTheRightToReadQueues reports that, and shows the rest.
func TestListWithoutTheRightToReadQueues(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, server)
	cmdtest.Set(t, c, "lock:a", cmdtest.Ours, time.Minute)
	cmdtest.Must(t, c.ZAdd(t.Context(), stored.QueueKey("lock:a"), redis.Z{Score: 1, Member: "somebody"}).Err())
	cmdtest.Must(t, c.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">pw", "%R~lock:*", "+@read", "+info",
		"+client|setname", "+scan", "+eval_ro", "+evalsha_ro").Err())
	file := filepath.Join(t.TempDir(), "password")
	cmdtest.Must(t, os.WriteFile(file, []byte("pw"), 0o600))
	o := command(t, "list", "--redis", "redis://reader@"+server.Addr(), "--redis-password-file", file)
	o.Want(t, ui.ExitClean, "worker-7/42", "some waiters are unknown", "NOPERM", "+zrange")
}
