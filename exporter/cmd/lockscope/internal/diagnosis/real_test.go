package diagnosis

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

func clientOf(t *testing.T, opt *redis.Options) *redis.Client {
	t.Helper()
	opt.MaxRetries, opt.DialerRetries, opt.DisableIdentity, opt.ContextTimeoutEnabled = -1, 1, true, true
	c := redis.NewClient(opt)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func nodesOf(t *testing.T, servers ...*redisproc.Server) (nodes []Node) {
	for _, s := range servers {
		nodes = append(nodes, Node{s.Addr(), s.Addr(), clientOf(t, &redis.Options{Addr: s.Addr()})})
	}
	return nodes
}

// patient does not judge latency: tests share the machine.
func patient() Policy {
	p := testPolicy()
	p.For, p.NodeTimeout, p.TTL = 300*time.Millisecond, 10*time.Second, time.Hour
	return p
}

func examine(t *testing.T, p Policy, nodes []Node) []inspect.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return Examine(Gather(ctx, nodes, p), p)
}

// want requires the status of one check on one node.
func want(t *testing.T, results []inspect.Result, check, node string, status inspect.Status, says string) {
	t.Helper()
	for _, r := range results {
		if r.Check == check && (node == "" || r.Node == node) && r.Status == status &&
			strings.Contains(r.Detail+" "+r.Advice, says) {
			return
		}
	}
	t.Errorf("%s of %q does not say %s with %q: %+v", check, node, status, says, ofCheck(results, check))
}

func ofCheck(results []inspect.Result, check string) (some []inspect.Result) {
	for _, r := range results {
		if r.Check == check {
			some = append(some, r)
		}
	}
	return some
}

func TestRealServersInTrouble(t *testing.T) {
	good := locktest.Servers(t, 1, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always"))[0]
	evicting := locktest.Servers(t, 1, redisproc.WithArgs("--maxmemory", "100mb", "--maxmemory-policy",
		"allkeys-lru"))[0]
	lazy := locktest.Servers(t, 1, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "everysec"))[0]
	replica := locktest.Servers(t, 1, redisproc.WithArgs("--replicaof", "127.0.0.1 "+
		strings.TrimPrefix(good.Addr(), "127.0.0.1:")))[0]
	dead := locktest.Servers(t, 1)[0]
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	nodes := nodesOf(t, good, evicting, lazy, replica, dead, evicting)
	nodes[5].Name = "again"
	results := examine(t, patient(), nodes)

	want(t, results, "connection", good.Addr(), inspect.Pass, "")
	want(t, results, "connection", dead.Addr(), inspect.Fail, "connection refused")
	want(t, results, "nodes", "", inspect.Warn, "6 nodes: a quorum is 4")
	want(t, results, "addresses", "", inspect.Fail, evicting.Addr()+" is given 2 times")
	want(t, results, "run_id", "", inspect.Fail, evicting.Addr()+" and again are the same server")
	want(t, results, "machines", "", inspect.Warn, "5 nodes are at 127.0.0.1")
	want(t, results, "version", good.Addr(), inspect.Pass, "")
	want(t, results, "role", replica.Addr(), inspect.Fail, "a replica")
	want(t, results, "role", evicting.Addr(), inspect.Pass, "master")
	want(t, results, "eviction", evicting.Addr(), inspect.Fail, "maxmemory-policy allkeys-lru, maxmemory 100.0 MiB")
	want(t, results, "eviction", good.Addr(), inspect.Pass, "noeviction")
	want(t, results, "persistence", good.Addr(), inspect.Pass, "always")
	want(t, results, "persistence", lazy.Addr(), inspect.Warn, "everysec")
	want(t, results, "persistence", evicting.Addr(), inspect.Warn, "appendonly no")
	want(t, results, "marker", good.Addr(), inspect.Warn, "nobody vouched for the node: it does not vote for")
	want(t, results, "marker", lazy.Addr(), inspect.Warn, "lockscope init")
	want(t, results, "clock", good.Addr(), inspect.Pass, "this machine")
	want(t, results, "clocks", "", inspect.Pass, "")
	want(t, results, "latency", good.Addr(), inspect.Pass, "p99")
	want(t, results, "rights", good.Addr(), inspect.Pass, "")
	for _, r := range results {
		if r.Node == dead.Addr() && r.Check != "connection" {
			t.Errorf("a node that is down is judged: %+v", r)
		}
	}
}

// TestRealServersThatRefuseToWrite: no lock can be taken on these servers, whatever INFO says.
func TestRealServersThatRefuseToWrite(t *testing.T) {
	ctx := t.Context()
	lonely := locktest.Servers(t, 1, redisproc.WithArgs("--min-replicas-to-write", "1"))[0]
	full := locktest.Servers(t, 1, redisproc.WithArgs("--save", "3600 1"))[0]
	gappy := locktest.Cluster(t, 3).Servers()[0]
	fine := locktest.Servers(t, 1)[0]
	nodes := nodesOf(t, lonely, full, gappy, fine)
	// A snapshot that cannot be written: its folder is gone.
	if err := os.RemoveAll(full.Dir()); err != nil {
		t.Fatal(err)
	}
	_ = nodes[1].Client.BgSave(ctx).Err()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(nodes[1].Client.Info(ctx).Val(),
		"rdb_last_bgsave_status:err"); {
		if time.Now().After(deadline) {
			t.Fatal("the snapshot did not fail")
		}
		ui.Pause(ctx, 10*time.Millisecond)
	}
	if err := nodes[2].Client.ClusterDelSlotsRange(ctx, 0, 10).Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(nodes[2].Client.ClusterInfo(ctx).Val(),
		"cluster_state:fail"); {
		if time.Now().After(deadline) {
			t.Fatal("the cluster is not down")
		}
		ui.Pause(ctx, 10*time.Millisecond)
	}
	for _, user := range []string{"", "default"} { // by a write, and from INFO
		p := patient()
		p.For, p.ACLUser = time.Millisecond, user
		results := examine(t, p, nodes)
		want(t, results, "writes", lonely.Addr(), inspect.Fail, "NOREPLICAS")
		want(t, results, "writes", full.Addr(), inspect.Fail, "MISCONF")
		want(t, results, "writes", gappy.Addr(), inspect.Fail, "CLUSTERDOWN")
		want(t, results, "writes", fine.Addr(), inspect.Pass, "")
	}
}

// TestRealServerWithoutRoom has no connection left.
func TestRealServerWithoutRoom(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := clientOf(t, &redis.Options{Addr: s.Addr()})
	if err := c.ConfigSet(t.Context(), "maxclients", "1").Err(); err != nil {
		t.Fatal(err)
	}
	p := patient()
	p.For = time.Millisecond
	want(t, examine(t, p, nodesOf(t, s)), "connection", s.Addr(), inspect.Fail, "raise maxclients")
}

func TestRealHungServer(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	p := patient()
	results := Examine(Gather(ctx, nodesOf(t, s), p), p)
	want(t, results, "connection", s.Addr(), inspect.Fail, "does not answer")
}

func TestRealWrongAndMissingPassword(t *testing.T) {
	const secret = "s3cr3t-w0rd"
	s := locktest.Servers(t, 1)[0]
	admin := clientOf(t, &redis.Options{Addr: s.Addr()})
	if err := admin.ConfigSet(t.Context(), "requirepass", "something-else").Err(); err != nil {
		t.Fatal(err)
	}
	results := examine(t, patient(), []Node{
		{"wrong", s.Addr(), clientOf(t, &redis.Options{Addr: s.Addr(), Password: secret})},
		{"none", s.Addr(), clientOf(t, &redis.Options{Addr: s.Addr()})},
	})
	want(t, results, "connection", "wrong", inspect.Fail, "WRONGPASS")
	want(t, results, "connection", "none", inspect.Fail, "NOAUTH")
	for _, r := range results {
		if strings.Contains(r.Detail+r.Advice, secret) {
			t.Errorf("the password is told: %+v", r)
		}
	}
}

// grants is the ACL line of lock/redlock/README.md without its password.
const grants = "~lock:* ~lockscope:* &lockscope:wake:* +eval +evalsha +info +subscribe +publish +ping +time" +
	" +get +mget +set +del +exists +pttl +pexpire +zadd +zrem +zscore +zrank +zrange +zpopmin" +
	" +zcard +hget +hgetall +hlen +hset +hdel"

func setUser(t *testing.T, admin *redis.Client, name, rights string) {
	t.Helper()
	args := []any{"ACL", "SETUSER", name, "reset", "on", ">pw"}
	for _, g := range strings.Fields(rights) {
		args = append(args, g)
	}
	if err := admin.Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestRealRights takes away one grant after the other: the doctor names it, by a trial and by ACL DRYRUN. With all
// grants, the doctor leaves no trace.
func TestRealRights(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	admin := clientOf(t, &redis.Options{Addr: s.Addr()})
	ctx := t.Context()
	for i, taken := range append([]string{""}, strings.Fields(grants)...) {
		left := slices.DeleteFunc(strings.Fields(grants), func(g string) bool { return g == taken })
		setUser(t, admin, "app", strings.Join(left, " "))
		if err := admin.ACLLogReset(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		user := clientOf(t, &redis.Options{Addr: s.Addr(), Username: "app", Password: "pw"})
		tried, err := missingRights(ctx, user, testPolicy())
		if err != nil {
			t.Fatal(err)
		}
		denied := admin.ACLLog(ctx, 10).Val()
		asked := testPolicy()
		asked.ACLUser = "app"
		dry, err := missingRights(ctx, admin, asked)
		if err != nil {
			t.Fatal(err)
		}
		var wanted []string
		if i > 0 {
			wanted = []string{taken}
		}
		if !slices.Equal(tried, wanted) || !slices.Equal(dry, wanted) {
			t.Errorf("without %q: tried %v, ACL DRYRUN %v", taken, tried, dry)
		}
		if i == 0 && len(denied) > 0 {
			t.Errorf("ACL LOG has %+v", denied)
		}
	}
	if n := admin.DBSize(ctx).Val(); n != 0 {
		t.Errorf("%d keys were left behind", n)
	}
}

func TestRealRightsOfNobody(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	p := patient()
	p.ACLUser = "nobody"
	results := examine(t, p, nodesOf(t, s))
	want(t, results, "rights", s.Addr(), inspect.Warn, "nobody")
}

// TestRealVouchedNodes: the doctor reports that redlock.Vouch vouched for new servers, and that this holds only for
// these processes.
func TestRealVouchedNodes(t *testing.T) {
	servers := locktest.Servers(t, 3, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always"))
	nodes := nodesOf(t, servers...)
	var clients []redis.UniversalClient
	for _, n := range nodes {
		clients = append(clients, n.Client)
	}
	if err := redlock.Vouch(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	if err := servers[2].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	setUser(t, nodes[1].Client, "blind", "+info +time +ping +eval +config|get")
	nodes[1].Client = clientOf(t, &redis.Options{Addr: servers[1].Addr(), Username: "blind", Password: "pw"})
	results := examine(t, patient(), nodes)
	want(t, results, "marker", servers[0].Addr(), inspect.Pass, "it votes for this configuration: 3 nodes")
	want(t, results, "marker", servers[1].Addr(), inspect.Warn, "unreadable: NOPERM")
	want(t, results, "marker", servers[2].Addr(), inspect.Warn, "from before a restart")
	want(t, results, "persistence", servers[2].Addr(), inspect.Pass, "fence counters")
}

// TestRealUserWithoutTIME: the doctor judges what the user may do, and does not crash.
func TestRealPoorUser(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	setUser(t, clientOf(t, &redis.Options{Addr: s.Addr()}), "poor", "+info")
	results := examine(t, patient(), []Node{{"n", s.Addr(),
		clientOf(t, &redis.Options{Addr: s.Addr(), Username: "poor", Password: "pw"})}})
	want(t, results, "connection", "n", inspect.Pass, "")
	want(t, results, "clock", "n", inspect.Warn, "TIME")
	want(t, results, "latency", "n", inspect.Fail, "NOPERM")
	want(t, results, "scripts", "n", inspect.Fail, "NOPERM")
	want(t, results, "rights", "n", inspect.Fail, "+set")
}
