package main

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

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
			if left := marked(t, servers...); len(left) != 0 {
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
	if n.Marker != stored.MarkerQuarantined.String() || n.QuarantineID == "" || n.Quarantine < 50 {
		t.Fatalf("%+v", n)
	}
	one := []string{"init", "--redis", list, "--restarted", n.Node, "--run-id", n.RunID, "--quarantine", n.QuarantineID}
	command(t, one[:5]...).Want(t, ui.ExitError, "need each other")
	command(t, append(one[:len(one):len(one)], "--max-ttl", "2m")...).
		Want(t, ui.ExitError, "another configuration", "max TTL 2m")
	command(t, one...).Want(t, ui.ExitClean, "vouched for "+n.Node)
	command(t, cmdtest.Patient("--redis", list, "-o", "json")...).Decode(t, &r)
	if r.Nodes[0].Marker != stored.MarkerVoting.String() {
		t.Errorf("%+v", r.Nodes[0])
	}
	cmdtest.Must(t, cmdtest.Admin(t, servers[0]).FlushAll(t.Context()).Err())
	command(t, one...).Want(t, ui.ExitError, "is not, or no longer")
}

// marked returns what lies at the marker of each server.
func marked(t testing.TB, servers ...*redisproc.Server) (all []string) {
	t.Helper()
	for _, s := range servers {
		if text := cmdtest.Admin(t, s).Get(t.Context(), "lockscope:life").Val(); text != "" {
			all = append(all, text)
		}
	}
	return all
}
