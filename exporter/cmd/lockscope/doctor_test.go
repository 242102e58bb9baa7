package main

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// patient judges no latency: tests share the machine with others.
func patient(args ...string) []string {
	return append([]string{"doctor", "--for", "100ms", "--node-timeout", "10s", "--ttl", "1h"}, args...)
}

// TestDoctorStatuses examines three sound servers, as if each were on a machine of
// its own, and then two that are less so.
func TestDoctorStatuses(t *testing.T) {
	servers := locktest.Servers(t, 3, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always",
		"--bind", "127.0.0.1", "127.0.0.2", "127.0.0.3", "--protected-mode", "no"))
	var list string
	for i, s := range servers {
		list += fmt.Sprintf("127.0.0.%d:%d,", i+1, s.Port())
	}
	command(t, patient("--redis", list)...).want(t, exitFindings, "not vouched for: it does not vote for another", "lockscope init", "3 warn, 0 fail")
	command(t, "init", "--redis", list).want(t, exitClean)
	command(t, patient("--redis", list)...).want(t, exitClean, "0 warn, 0 fail", "the user may do all that locks need", "it votes for this configuration: 3 nodes, max TTL 1m0s")

	o := command(t, patient("--redis", list, "-o", "json")...)
	o.want(t, exitClean)
	var r doctorReport
	o.decode(t, &r)
	if r.Status != diagnosis.Pass || len(r.Nodes) != 3 || r.Nodes[0].Version == "" || r.Nodes[0].Samples == 0 ||
		!r.Nodes[0].Vouched || r.Nodes[0].Marker != "voting" || r.Nodes[0].Quarantine != 0 || len(r.Results) < 30 {
		t.Errorf("%+v", r)
	}
	command(t, patient("--redis", addrs(servers...), "--node-names", list)...).want(t, exitFindings, "3 nodes are at 127.0.0.1")

	must(t, servers[2].Restart(t.Context()))
	command(t, patient("--redis", list, "-o", "json")...).decode(t, &r)
	if n := r.Nodes[2]; n.Vouched || n.Quarantine < 50 || n.Quarantine > 61 {
		t.Errorf("restarted: %+v", n)
	}

	must(t, admin(t, servers[1]).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	must(t, admin(t, servers[1]).ConfigSet(t.Context(), "maxmemory", "100mb").Err())
	command(t, patient("--redis", list)...).want(t, exitError, "1 fail", "CONFIG SET maxmemory-policy noeviction")
}

func TestDoctorOfServersThatRefuse(t *testing.T) {
	const wrong = "wr0ng-s3cret"
	servers := locktest.Servers(t, 2)
	must(t, servers[0].Kill())
	must(t, admin(t, servers[1]).ConfigSet(t.Context(), "requirepass", "right").Err())
	o := command(t, patient("--redis", servers[0].Addr(), "--redis", "redis://:"+wrong+"@"+servers[1].Addr())...)
	o.want(t, exitError, "refused", "WRONGPASS", "only 0 can be reached")
	o.wantNot(t, wrong)
	tls := command(t, patient("--redis", "rediss://"+servers[1].Addr())...)
	tls.want(t, exitError, "connection", servers[1].Addr())
	cluster := command(t, patient("--cluster", "--redis", servers[0].Addr())...)
	cluster.want(t, exitError, "refused")
}
