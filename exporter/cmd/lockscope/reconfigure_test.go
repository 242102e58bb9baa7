package main

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestReconfigure takes three nodes to five, one of them away, and lets that one join late.
func TestReconfigure(t *testing.T) {
	servers := locktest.Servers(t, 5)
	three, five := addrs(servers[:3]...), addrs(servers...)
	command(t, "init", "--redis", three).want(t, exitClean)
	must(t, locks(t, servers[:3]...))

	must(t, servers[1].Pause())
	o := command(t, "reconfigure", "--from", three, "--redis", five)
	must(t, servers[1].Resume())
	o.want(t, exitFindings, "changed: no lock can be taken for 1m1s", "did not answer", servers[1].Addr(), "without --from")
	if err := locks(t, servers[:3]...); err == nil || !strings.Contains(err.Error(), "another configuration") {
		t.Errorf("the old configuration: %v", err)
	}
	if err := locks(t, servers...); err == nil || !strings.Contains(err.Error(), "may not vote yet") {
		t.Errorf("the new configuration: %v", err)
	}

	o = command(t, "reconfigure", "--redis", five, "-o", "json")
	o.want(t, exitClean)
	var r reconfigureReport
	o.decode(t, &r)
	if r.Status != "changed" || len(r.Away) != 0 || r.Quarantine < 60 {
		t.Errorf("%+v", r)
	}
	for _, marker := range marked(t, servers...) {
		if !strings.HasPrefix(marker, "quarantine|5:60000:") {
			t.Errorf("marked %q", marker)
		}
	}
}

func TestReconfigureRefuses(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := addrs(servers[:3]...), addrs(servers...)
	command(t, "init", "--redis", three).want(t, exitClean)
	before := marked(t, servers...)
	command(t, "reconfigure", "--redis", four).want(t, exitError, "only 0 of 4 nodes have gone over", "name the one before")
	command(t, "reconfigure", "--cluster", "--redis", four).want(t, exitError, "--cluster")
	command(t, "reconfigure", "--from", three, "--redis", four, "--node-names", "a,b").want(t, exitError, "2 names for 4 nodes")
	must(t, servers[3].Kill())
	command(t, "reconfigure", "--from", three, "--redis", four).want(t, exitError, "every node that joins is needed", servers[3].Addr())
	must(t, servers[3].Restart(t.Context()))
	must(t, servers[0].Kill())
	must(t, servers[1].Kill())
	command(t, "reconfigure", "--from", three, "--redis", four).want(t, exitError, "1 of the 3 old nodes", "2 are needed", servers[0].Addr())
	if after := marked(t, servers[2:]...); len(after) != 1 || after[0] != before[2] {
		t.Errorf("marked all the same: %q", after)
	}
}
