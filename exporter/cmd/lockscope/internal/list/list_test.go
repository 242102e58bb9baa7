package list

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

func TestListRealLocks(t *testing.T) {
	servers := locktest.Servers(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	locker, err := redlock.Open(urls, redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(2*time.Second),
		lock.WithInstance("worker-7"))
	cmdtest.Must(t, err)
	defer func() { cmdtest.Must(t, locker.Close()) }()
	lease, err := locker.Acquire(t.Context(), "order:1001", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:left\tover", "v", time.Minute) // on a minority

	o := command(t, "list", "--redis", strings.Join(urls, ","))
	o.Want(t, ui.ExitClean, "order:1001    3/3    worker-7", "worker-7", `"left\tover"`, "no majority")

	o = command(t, "list", "--redis", strings.Join(urls, ","), "-o", "json", "--filter", "order")
	o.Want(t, ui.ExitClean)
	var r document
	o.Decode(t, &r)
	if len(r.Locks) != 1 || len(r.Nodes) != 3 || r.Truncated {
		t.Fatalf("%+v", r)
	}
	l := r.Locks[0]
	key, err := base64.StdEncoding.DecodeString(l.KeyBase64)
	cmdtest.Must(t, err)
	if string(key) != "lock:order:1001" || !l.Held || l.Nodes != 3 || l.Of != 3 || l.Holder == nil ||
		l.Holder.Name != "worker-7" ||
		l.Holder.Fence != lease.Fence() || l.HeldFor == nil || l.TTL == nil || *l.TTL <= 0 || *l.TTL > 60 {
		t.Errorf("%+v", l)
	}
	cmdtest.Must(t, lease.Release(t.Context()))
	cmdtest.Eventually(t, "the last node has let go", func() bool {
		o := command(t, "list", "--redis", strings.Join(urls, ","), "--filter", "order:*")
		return o.Status == ui.ExitClean && o.Out == "no locks\n"
	})
}

// TestListOfALockWithASilentNode: the lock may be held, by the node that answers and the one that does not.
func TestListOfALockWithASilentNode(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 3)
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:order:1001", cmdtest.Ours, time.Minute)
	cmdtest.Must(t, servers[2].Pause())
	o := command(t, "list", "--redis", cmdtest.Addrs(servers...))
	o.Want(t, ui.ExitError, "order:1001  1/3    worker-7", "undecided: held if a majority has it; 1 node not read",
		servers[2].Addr())
}

func TestListSortsAndLimits(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	for i := range 5 {
		cmdtest.Set(t, c, fmt.Sprintf("lock:%d", i), "v", time.Duration(10-i)*time.Minute)
	}
	resources := func(args ...string) string {
		o := command(t, append([]string{"list", "--redis", s.Addr(), "-o", "json"}, args...)...)
		o.Want(t, ui.ExitClean)
		var r document
		o.Decode(t, &r)
		all := fmt.Sprint(r.Omitted, ":")
		for _, l := range r.Locks {
			all += l.Resource
		}
		return all
	}
	for args, want := range map[string]string{
		"": "0:01234", "--reverse": "0:43210", "--sort resource --limit 2": "3:01", "--filter [24]": "0:24",
		"--prefix none:": "0:",
	} {
		if got := resources(strings.Fields(args)...); got != want {
			t.Errorf("list %s: %s, want %s", args, got, want)
		}
	}
	command(t, "list", "--redis", s.Addr(), "--limit", "2").Want(t, ui.ExitClean, "... and 3 more")
}

func TestListUnreachableNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:a", cmdtest.Ours, time.Minute)
	cmdtest.Set(t, cmdtest.Admin(t, servers[1]), "lock:a", cmdtest.Ours, time.Minute)
	cmdtest.Must(t, servers[2].Kill())
	o := command(t, "list", "--redis", cmdtest.Addrs(servers...))
	o.Want(t, ui.ExitError, servers[2].Addr(), "worker-7/42", "2/3")
	o.WantNot(t, cmdtest.SecretToken)
}

func TestListCluster(t *testing.T) {
	t.Parallel()
	cluster := locktest.Cluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	for i := range 12 {
		cmdtest.Set(t, c, fmt.Sprintf("lock:%d", i), cmdtest.Ours, time.Minute)
	}
	o := command(t, "list", "--cluster", "--redis", strings.Join(cluster.Addrs(), ","), "-o", "json")
	o.Want(t, ui.ExitClean)
	var r document
	o.Decode(t, &r)
	if len(r.Locks) != 12 || !r.Locks[0].Held {
		t.Errorf("%+v", r)
	}
	d := command(t, "doctor", "--cluster", "--redis", cluster.Addrs()[0], "--for", "100ms")
	d.Want(t, ui.ExitError, "one cluster counts as one node", "appendonly no")
	for _, addr := range cluster.Addrs() {
		d.Want(t, ui.ExitError, addr)
	}
}

func TestListSeveralPatterns(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:a", "v", time.Minute)
	cmdtest.Set(t, c, "job-lock:default:nightly", "v", time.Minute)
	cmdtest.Set(t, c, "other", "v", time.Minute)
	o := command(t, "list", "--redis", s.Addr(), "--prefix", "job-lock:default:", "--pattern", "lock:*")
	o.Want(t, ui.ExitClean, "nightly", "a ")
	o.WantNot(t, "other")
	command(t, "list", "--redis", s.Addr(), "--prefix", "").Want(t, ui.ExitError, "--prefix is empty")
}
