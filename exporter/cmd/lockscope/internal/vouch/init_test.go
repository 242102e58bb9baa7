package vouch

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

func TestInitLetsNewNodesVote(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := cmdtest.Addrs(servers...)
	o := command(t, "init", "--redis", list)
	o.Want(t, ui.ExitClean, "vouched", servers[2].Addr(), "votes at once, until it restarts", "vouched for 3 nodes")
	if err := cmdtest.Locks(t, servers...); err != nil {
		t.Errorf("new nodes that were vouched for do not vote: %v", err)
	}
	before := cmdtest.Marked(t, servers...)
	again := command(t, "init", "--redis", list, "-o", "json")
	again.Want(t, ui.ExitClean)
	var r initReport
	again.Decode(t, &r)
	if r.Status != "already" || len(r.Nodes) != 3 || r.Nodes[0].Result != "already" || r.Nodes[0].Quarantine != 0 {
		t.Errorf("a second run says %+v", r)
	}
	command(t, "init", "--redis", list).Want(t, ui.ExitClean, "already", "already vouched for 3 nodes")
	if after := cmdtest.Marked(t, servers...); len(after) != 3 ||
		strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("a second run marks them again: %q, then %q", before, after)
	}
}

func TestInitRefusesUsedNodes(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := cmdtest.Addrs(servers...)
	// A tombstone's key holds the token of its lease.
	cmdtest.Set(t, cmdtest.Admin(t, servers[1]), "lockscope:tomb:{lock:order:1001}:"+cmdtest.SecretToken, "",
		time.Minute)
	o := command(t, "init", "--redis", list)
	o.Want(t, ui.ExitError, "refused", servers[1].Addr(), "used for locks before", "votes by itself in 1m",
		"untouched",
		"unchanged")
	o.WantNot(t, cmdtest.SecretToken)
	if left := cmdtest.Marked(t, servers...); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
	command(t, "init", "--redis", list, "--if-new").Want(t, ui.ExitClean, "refused", "used for locks before")

	var r initReport
	command(t, "init", "--redis", list, "-o", "json", "--max-ttl", "30s").Decode(t, &r)
	if n := r.Nodes[1]; r.Status != "refused" || n.Result != "refused" || n.Advice == "" || n.Quarantine < 10 ||
		n.Quarantine > 31 || r.Nodes[0].Result != "untouched" {
		t.Errorf("%+v", r)
	}
	one := command(t, "init", "--redis", servers[1].Addr())
	one.Want(t, ui.ExitError, "votes already; locks that it may have forgotten can be valid for another 1m")
	if err := cmdtest.Locks(t, servers...); err == nil || !strings.Contains(err.Error(), "may not vote yet") {
		t.Errorf("they vote all the same: %v", err)
	}
}

func TestInitRefusesHalfASet(t *testing.T) {
	const wrong = "wr0ng-s3cret"
	servers := locktest.Servers(t, 3)
	cmdtest.Must(t, servers[2].Kill())
	o := command(t, "init", "--if-new", "--redis", cmdtest.Addrs(servers...))
	o.Want(t, ui.ExitError, "refused", servers[2].Addr(), "connection refused", "check that the server is up",
		"untouched", "all nodes or none")
	cmdtest.Must(t, servers[2].Restart(t.Context()))
	cmdtest.Must(t, cmdtest.Admin(t, servers[2]).ConfigSet(t.Context(), "requirepass", "right").Err())
	list := cmdtest.Addrs(servers[:2]...) + ",redis://:" + wrong + "@" + servers[2].Addr()
	o = command(t, "init", "--redis", list)
	o.Want(t, ui.ExitError, "WRONGPASS", "--redis-password-file")
	o.WantNot(t, wrong)
	if left := cmdtest.Marked(t, servers[:2]...); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
}

// TestInitRefusesARestartedNode: a node that forgot everything looks new, but is not.
func TestInitRefusesARestartedNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := cmdtest.Addrs(servers...)
	command(t, "init", "--redis", list).Want(t, ui.ExitClean)
	cmdtest.Must(t, cmdtest.Locks(t, servers...))
	cmdtest.Must(t, servers[0].Restart(t.Context()))
	cmdtest.Must(t, cmdtest.Admin(t, servers[0]).FlushAll(t.Context()).Err())
	o := command(t, "init", "--redis", list)
	o.Want(t, ui.ExitError, "other nodes are in use", "votes by itself in 1m", "already")
	if left := cmdtest.Marked(t, servers[0]); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
	command(t, "init", "--redis", list, "--if-new").Want(t, ui.ExitClean)
}

// TestInitAsksWhatAServerSaysOfItself: a node that was flushed has no keys, and is not new, but for a person who says so.
func TestInitAsksWhatAServerSaysOfItself(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := cmdtest.Addrs(servers...)
	command(t, "init", "--redis", list).Want(t, ui.ExitClean)
	for _, s := range servers {
		cmdtest.Must(t, cmdtest.Admin(t, s).FlushAll(t.Context()).Err())
	}
	o := command(t, "init", "--redis", list)
	o.Want(t, ui.ExitError, servers[0].Addr(), "not new: FLUSHALL or FLUSHDB has emptied it", "votes by itself in 1m",
		"add --new "+servers[2].Addr(), "see --restarted")
	if left := cmdtest.Marked(t, servers...); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
	command(t, "init", "--redis", list, "--if-new").Want(t, ui.ExitClean, "refused")
	command(t, "init", "--redis", list, "--new", servers[0].Addr()).Want(t, ui.ExitError, servers[2].Addr())
	command(t, "init", "--redis", list, "--new", "nobody:1").Want(t, ui.ExitError, "nobody:1")
	command(t, "init", "--redis", list, "--new", list).Want(t, ui.ExitClean, "vouched for 3 nodes")
	cmdtest.Must(t, cmdtest.Locks(t, servers...))
}

func TestInitRefusesWhatIsNoSetOfMasters(t *testing.T) {
	master := locktest.Servers(t, 1)[0]
	replica := locktest.Servers(t, 1, redisproc.WithArgs("--replicaof", strings.Replace(master.Addr(), ":", " ", 1)))[0]
	command(t, "init", "--if-new", "--redis", cmdtest.Addrs(master, replica)).Want(t, ui.ExitError, replica.Addr(),
		"replica")
	command(t, "init", "--if-new", "--redis", master.Addr()+",redis://"+master.Addr()+"/1").Want(t, ui.ExitError,
		"same server", "each master itself, once")
	if left := cmdtest.Marked(t, master); len(left) != 0 {
		t.Errorf("marked all the same: %q", left)
	}
}

// TestInitRights takes away one grant after the other: init reports it before it marks a node. With all grants the
// server refuses nothing.
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
			c := cmdtest.Admin(t, s)
			cmdtest.Must(t, c.Do(t.Context(), args...).Err())
			cmdtest.Must(t, c.Set(t.Context(), "customer:1", "x", 0).Err()) // so that DBSIZE alone cannot tell
			cmdtest.Must(t, c.ACLLogReset(t.Context()).Err())
		}
		o := commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + password}, "", "init", "--redis",
			cmdtest.Addrs(servers...), "--redis-username", "setup")
		o.WantNot(t, password)
		if taken != "" {
			o.Want(t, ui.ExitError, servers[0].Addr(), "the user lacks "+taken, "init needs "+
				strings.Join(grants, " "),
				"untouched")
			if left := cmdtest.Marked(t, servers...); len(left) != 0 {
				t.Errorf("without %s: marked all the same: %q", taken, left)
			}
			continue
		}
		o.Want(t, ui.ExitClean, "vouched for 2 nodes")
		if denied := cmdtest.Admin(t, servers[0]).ACLLog(t.Context(), 10).Val(); len(denied) > 0 {
			t.Errorf("ACL LOG: %+v", denied)
		}
	}
}

func TestInitOfAClusterAndASentinel(t *testing.T) {
	command(t, "init", "--cluster", "--redis", "127.0.0.1:1").Want(t, ui.ExitError, "Redis Cluster")
	command(t, "init", "--max-ttl", "0s", "--redis", "127.0.0.1:1").Want(t, ui.ExitError, "--max-ttl")
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, sentinel.Stop()) })
	master := []string{"init", "--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName}
	command(t, master...).Want(t, ui.ExitClean, "vouched for 1 node")
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lockscope:life", "vouched|another|nonce", 0)
	command(t, master...).Want(t, ui.ExitError, "sentinel:"+redisproc.MasterName, "vouched for it before it restarted")
}

// TestInitOfARestartedNode with the command that doctor shows, which works once.
func TestInitOfARestartedNode(t *testing.T) {
	servers := locktest.Servers(t, 3)
	list := cmdtest.Addrs(servers...)
	command(t, "init", "--redis", list).Want(t, ui.ExitClean)
	cmdtest.Must(t, cmdtest.Locks(t, servers...))
	cmdtest.Must(t, servers[0].Restart(t.Context()))
	cmdtest.Eventually(t, "the quarantine begins",
		func() bool { // with the first command that reaches the node, as a quorum need not wait for it
			_ = cmdtest.Locks(t, servers...)
			return strings.HasPrefix(cmdtest.Admin(t, servers[0]).Get(t.Context(), "lockscope:life").Val(),
				"quarantine|")
		})
	var r doctor.Report
	command(t, cmdtest.Patient("--redis", list, "-o", "json")...).Decode(t, &r)
	n := r.Nodes[0]
	if n.Marker != redlock.MarkerQuarantined.String() || n.QuarantineID == "" || n.Quarantine < 50 {
		t.Fatalf("%+v", n)
	}
	one := []string{"init", "--redis", list, "--restarted", n.Node, "--run-id", n.RunID, "--quarantine", n.QuarantineID}
	command(t, one[:5]...).Want(t, ui.ExitError, "need each other")
	command(t, append(one[:len(one):len(one)], "--max-ttl", "2m")...).
		Want(t, ui.ExitError, "another configuration", "max TTL 2m")
	command(t, one...).Want(t, ui.ExitClean, "vouched for "+n.Node)
	command(t, cmdtest.Patient("--redis", list, "-o", "json")...).Decode(t, &r)
	if r.Nodes[0].Marker != redlock.MarkerVoting.String() {
		t.Errorf("%+v", r.Nodes[0])
	}
	cmdtest.Must(t, cmdtest.Admin(t, servers[0]).FlushAll(t.Context()).Err())
	command(t, one...).Want(t, ui.ExitError, "is not, or no longer")
}
