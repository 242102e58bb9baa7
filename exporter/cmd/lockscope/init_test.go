package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// marked returns what lies at the marker of each server.
func marked(t *testing.T, servers ...*redisproc.Server) (all []string) {
	t.Helper()
	for _, s := range servers {
		if text := admin(t, s).Get(t.Context(), "lockscope:life").Val(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// locks takes a lock as a service with the default guard does.
func locks(t *testing.T, servers ...*redisproc.Server) error {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	l, err := redlock.Open(urls, lock.WithNodeTimeout(2*time.Second))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	return lock.Do(t.Context(), l, "order:1001", func(context.Context, lock.Lease) error { return nil }, lock.NoWait())
}

func TestInitLetsNewNodesVote(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := addrs(servers...)
	o := command(t, "init", "--redis", list)
	o.want(t, exitClean, "vouched", servers[2].Addr(), "votes at once, until it restarts", "vouched for 3 nodes")
	if err := locks(t, servers...); err != nil {
		t.Errorf("new nodes that were vouched for do not vote: %v", err)
	}
	before := marked(t, servers...)
	again := command(t, "init", "--redis", list, "-o", "json")
	again.want(t, exitClean)
	var r initReport
	again.decode(t, &r)
	if r.Status != "already" || len(r.Nodes) != 3 || r.Nodes[0].Result != "already" || r.Nodes[0].Quarantine != 0 {
		t.Errorf("a second run says %+v", r)
	}
	command(t, "init", "--redis", list).want(t, exitClean, "already", "nothing to do for 3 nodes")
	if after := marked(t, servers...); len(after) != 3 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("a second run marks them again: %q, then %q", before, after)
	}
}

func TestInitRefusesUsedNodes(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := addrs(servers...)
	// A tombstone's key holds the token of the lease it is for.
	set(t, admin(t, servers[1]), "lockscope:tomb:{lock:order:1001}:"+secretToken, "", time.Minute)
	o := command(t, "init", "--redis", list)
	o.want(t, exitError, "refused", servers[1].Addr(), "used for locks before", "votes by itself in 1m", "untouched", "nothing was marked")
	o.wantNot(t, secretToken)
	if left := marked(t, servers...); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
	command(t, "init", "--redis", list, "--if-new").want(t, exitClean, "refused", "used for locks before")

	var r initReport
	command(t, "init", "--redis", list, "-o", "json", "--max-ttl", "30s").decode(t, &r)
	if n := r.Nodes[1]; r.Status != "refused" || n.Result != "refused" || n.Advice == "" || n.Quarantine < 10 || n.Quarantine > 31 || r.Nodes[0].Result != "untouched" {
		t.Errorf("%+v", r)
	}
	one := command(t, "init", "--redis", servers[1].Addr())
	one.want(t, exitError, "votes already; locks it may have forgotten can be valid for another 1m")
	if err := locks(t, servers...); err == nil || !strings.Contains(err.Error(), "may not vote yet") {
		t.Errorf("they vote all the same: %v", err)
	}
}

func TestInitRefusesHalfASet(t *testing.T) {
	const wrong = "wr0ng-s3cret"
	servers := locktest.Servers(t, 3)
	must(t, servers[2].Kill())
	o := command(t, "init", "--if-new", "--redis", addrs(servers...))
	o.want(t, exitError, "refused", servers[2].Addr(), "connection refused", "is the server up", "untouched", "all nodes or none")
	must(t, servers[2].Restart(t.Context()))
	must(t, admin(t, servers[2]).ConfigSet(t.Context(), "requirepass", "right").Err())
	list := addrs(servers[:2]...) + ",redis://:" + wrong + "@" + servers[2].Addr()
	o = command(t, "init", "--redis", list)
	o.want(t, exitError, "WRONGPASS", "--redis-password-file")
	o.wantNot(t, wrong)
	if left := marked(t, servers[:2]...); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
}

// TestInitRefusesARestartedNode: one that forgot everything looks new, and is not.
func TestInitRefusesARestartedNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := addrs(servers...)
	command(t, "init", "--redis", list).want(t, exitClean)
	must(t, locks(t, servers...))
	must(t, servers[0].Restart(t.Context()))
	must(t, admin(t, servers[0]).FlushAll(t.Context()).Err())
	o := command(t, "init", "--redis", list)
	o.want(t, exitError, "other nodes are in use", "votes by itself in 1m", "already")
	if left := marked(t, servers[0]); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
	command(t, "init", "--redis", list, "--if-new").want(t, exitClean)
}

func TestInitRefusesWhatIsNoSetOfMasters(t *testing.T) {
	master := locktest.Servers(t, 1)[0]
	replica := locktest.Servers(t, 1, redisproc.WithArgs("--replicaof", strings.Replace(master.Addr(), ":", " ", 1)))[0]
	command(t, "init", "--if-new", "--redis", addrs(master, replica)).want(t, exitError, replica.Addr(), "replica")
	command(t, "init", "--if-new", "--redis", master.Addr()+",redis://"+master.Addr()+"/1").want(t, exitError, "same server", "each once")
	if left := marked(t, master); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
}

// TestInitRights takes one grant after the other away: init says so before it marks
// anything, and with all of them the server refuses nothing.
func TestInitRights(t *testing.T) {
	const password = "an-acl-passw0rd"
	servers := locktest.Servers(t, 2)
	grants := strings.Fields("~lockscope:* +info +dbsize +scan +get +mget +set +del +eval +time")
	for _, taken := range append(grants, "") {
		for _, s := range servers {
			args := []any{"ACL", "SETUSER", "setup", "reset", "on", ">" + password}
			for _, g := range grants {
				if g != taken || s == servers[1] {
					args = append(args, g)
				}
			}
			c := admin(t, s)
			must(t, c.Do(t.Context(), args...).Err())
			must(t, c.Set(t.Context(), "customer:1", "x", 0).Err()) // so that DBSIZE does not tell all
			must(t, c.ACLLogReset(t.Context()).Err())
		}
		o := commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + password}, "", "init", "--redis", addrs(servers...), "--redis-username", "setup")
		o.wantNot(t, password)
		if taken != "" {
			o.want(t, exitError, servers[0].Addr(), "the user lacks "+taken, "init needs "+strings.Join(grants, " "), "untouched")
			if left := marked(t, servers...); len(left) != 0 {
				t.Errorf("without %s: marked all the same: %q", taken, left)
			}
			continue
		}
		o.want(t, exitClean, "vouched for 2 nodes")
		if denied := admin(t, servers[0]).ACLLog(t.Context(), 10).Val(); len(denied) > 0 {
			t.Errorf("ACL LOG: %+v", denied)
		}
	}
}

func TestInitOfAClusterAndASentinel(t *testing.T) {
	command(t, "init", "--cluster", "--redis", "127.0.0.1:1").want(t, exitError, "Redis Cluster")
	command(t, "init", "--max-ttl", "0s", "--redis", "127.0.0.1:1").want(t, exitError, "--max-ttl")
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	master := []string{"init", "--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName}
	command(t, master...).want(t, exitClean, "vouched for 1 node")
	set(t, admin(t, servers[0]), "lockscope:life", "vouched|another|nonce", 0)
	command(t, master...).want(t, exitError, "sentinel:"+redisproc.MasterName, "vouched for before it restarted")
}

// TestInitOfARestartedNode: with what doctor says of it, once.
func TestInitOfARestartedNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := addrs(servers...)
	command(t, "init", "--redis", list).want(t, exitClean)
	must(t, locks(t, servers...))
	must(t, servers[0].Restart(t.Context()))
	eventually(t, "the quarantine begins", func() bool { // with the first command that reaches the node; a quorum need not wait for it
		_ = locks(t, servers...)
		return strings.HasPrefix(admin(t, servers[0]).Get(t.Context(), "lockscope:life").Val(), "quarantine|")
	})
	var r doctorReport
	command(t, patient("--redis", list, "-o", "json")...).decode(t, &r)
	n := r.Nodes[0]
	if n.Marker != redlock.MarkerQuarantined.String() || n.QuarantineID == "" || n.Quarantine < 50 {
		t.Fatalf("%+v", n)
	}
	one := []string{"init", "--redis", list, "--restarted", n.Node, "--run-id", n.RunID, "--quarantine", n.QuarantineID}
	command(t, one[:5]...).want(t, exitError, "belong together")
	command(t, append(one[:len(one):len(one)], "--max-ttl", "2m")...).want(t, exitError, "is not, or no longer")
	command(t, one...).want(t, exitClean, "vouched for "+n.Node)
	command(t, patient("--redis", list, "-o", "json")...).decode(t, &r)
	if r.Nodes[0].Marker != redlock.MarkerVoting.String() {
		t.Errorf("%+v", r.Nodes[0])
	}
	must(t, admin(t, servers[0]).FlushAll(t.Context()).Err())
	command(t, one...).want(t, exitError, "is not, or no longer")
}
