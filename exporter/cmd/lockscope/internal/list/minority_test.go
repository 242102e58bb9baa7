package list

import (
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestListOfAMinority: order is held, and old is a leftover on the first node. The test checks how list reports them,
// and the nodes that it could not read, with nodes dead, hung, or empty after a wipe.
func TestListOfAMinority(t *testing.T) {
	wipe := func(s *redisproc.Server) error {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		return c.FlushAll(t.Context()).Err()
	}
	type faults []func(*redisproc.Server) error // of the last nodes
	kill, hang := (*redisproc.Server).Kill, (*redisproc.Server).Pause
	for name, c := range map[string]struct {
		faults     faults
		status     int
		order, old string // the remark; empty: none
		whole      bool   // every held lock is listed
		says       []string
	}{
		"all there": {nil, ui.ExitClean, lockHeld, lockNotHeld, true, nil},
		"one dead": {faults{kill}, ui.ExitError, lockHeld, lockUndecided, true,
			[]string{"2 of 3 nodes were read", "Every held lock is listed"}},
		"two dead": {faults{kill, kill}, ui.ExitError, lockUndecided, lockUndecided, false,
			[]string{"1 of 3 nodes was read", "Held locks may be missing", "1/3"}},
		"two hung": {faults{hang, hang}, ui.ExitError, lockUndecided, lockUndecided, false,
			[]string{"1 of 3 nodes was read", "may or may not be held"}},
		"one wiped": {faults{wipe}, ui.ExitClean, lockHeld, lockUndecided, true,
			[]string{"may have forgotten locks"}},
		"one wiped and one dead": {faults{wipe, kill}, ui.ExitError, lockUndecided, lockUndecided, false,
			[]string{"may have forgotten locks", "Held locks may be missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			cmdtest.VouchFor(t, servers...)
			var clients []redis.UniversalClient
			for _, s := range servers {
				clients = append(clients, cmdtest.Admin(t, s))
			}
			l, err := redlock.New(clients, lock.WithInstance("worker-7/42"), lock.WithNodeTimeout(time.Second))
			cmdtest.Must(t, err)
			defer func() { cmdtest.Must(t, l.Close()) }()
			_, err = l.Acquire(t.Context(), "order", lock.TTL(time.Minute), lock.NoRenew())
			cmdtest.Must(t, err)
			cmdtest.Eventually(t, "the last node has it, too", func() bool {
				n, err := clients[1].(*redis.Client).Exists(t.Context(), "lock:order").Result()
				m, _ := clients[2].(*redis.Client).Exists(t.Context(), "lock:order").Result()
				k, _ := clients[0].(*redis.Client).Exists(t.Context(), "lock:order").Result()
				return err == nil && n+m+k == 3
			})
			cmdtest.Set(t, clients[0], "lock:old", cmdtest.Ours, time.Minute)
			cmdtest.Set(t, clients[0], "lock:stuck", cmdtest.Ours, 0)
			for i, fault := range c.faults {
				cmdtest.Must(t, fault(servers[3-len(c.faults)+i]))
			}
			o := command(t, "list", "--redis", cmdtest.Addrs(servers...))
			o.Want(t, c.status, c.says...)
			if len(c.says) == 0 {
				o.WantNot(t, "were read", "was read", "forgotten")
			}
			for resource, left := range map[string]string{"order": `\d+\.\ds`, "old": `\d+\.\ds`, "stuck": "never"} {
				if !regexp.MustCompile(`(?m)^` + resource + ` .* ` + left + ` `).MatchString(o.Out) {
					t.Errorf("the TTL of %s is not %s: %s", resource, left, o.Out)
				}
			}
			var r document
			o = command(t, "list", "--redis", cmdtest.Addrs(servers...), "-o", "json")
			o.Want(t, c.status)
			o.Decode(t, &r)
			got := make(map[string]string)
			for _, l := range r.Locks {
				got[l.Resource] = l.State
				if never := l.Resource == "stuck"; l.TTLUnknown || (l.TTL == nil) != never || !never && *l.TTL < 1 {
					t.Errorf("%s: TTL %v, unknown: %v", l.Resource, l.TTL, l.TTLUnknown)
				}
			}
			if got["order"] != c.order || got["old"] != c.old || got["stuck"] != c.old {
				t.Errorf("order is %q, want %q; old and stuck are %q and %q, want %q", got["order"], c.order,
					got["old"], got["stuck"], c.old)
			}
			if r.Coverage == nil || r.Coverage.Of != 3 || r.Coverage.AllHeldListed != c.whole {
				t.Errorf("coverage %+v, want whole: %v", r.Coverage, c.whole)
			}
		})
	}
}

// TestListOfNoNode: with two of three nodes down and no key on the third, list does not say that there are no locks.
func TestListOfNoNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for _, s := range servers[1:] {
		cmdtest.Must(t, s.Kill())
	}
	o := command(t, "list", "--redis", cmdtest.Addrs(servers...))
	o.Want(t, ui.ExitError, "no locks in what was read", "1 of 3 nodes was read")
}
