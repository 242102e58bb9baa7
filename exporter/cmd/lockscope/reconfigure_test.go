package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
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
	o.want(t, exitFindings, "changed: no lock can be taken for 1m1s", "did not answer", servers[1].Addr(), "run this again")
	if err := locks(t, servers[:3]...); err == nil || !strings.Contains(err.Error(), "another configuration") {
		t.Errorf("the old configuration: %v", err)
	}
	if err := locks(t, servers...); err == nil || !strings.Contains(err.Error(), "may not vote yet") {
		t.Errorf("the new configuration: %v", err)
	}

	o = command(t, "reconfigure", "--from", three, "--redis", five, "-o", "json")
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

// TestReconfigureStale names what once stood there: it is refused before anything is changed, and names node and configurations.
func TestReconfigureStale(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := addrs(servers[:3]...), addrs(servers...)
	command(t, "init", "--redis", three).want(t, exitClean)
	command(t, "reconfigure", "--from", three, "--redis", four).want(t, exitClean)
	before := marked(t, servers...)
	stale := []string{"reconfigure", "--from", three, "--redis", three, "--max-ttl", "10m", "--from-max-ttl", "1m"}
	command(t, stale...).want(t, exitError, "4 nodes, max TTL 1m0s", "3 nodes, max TTL 1m0s", "3 nodes, max TTL 10m0s", "127.0.0.1:", "reconfigure: node stands")
	command(t, "reconfigure", "--from", three, "--redis", four).want(t, exitClean, "unchanged")
	command(t, "reconfigure", "--redis", four).want(t, exitClean, "unchanged")
	if after := marked(t, servers...); !slices.Equal(before, after) {
		t.Errorf("marked all the same: %q, before %q", after, before)
	}
}

// TestReconfigureTwoAtOnce: one wins, and the other says so.
func TestReconfigureTwoAtOnce(t *testing.T) {
	servers := locktest.Servers(t, 5)
	three := addrs(servers[:3]...)
	for round := range 5 {
		forget(t, servers...)
		command(t, "init", "--redis", three).want(t, exitClean)
		sets := []string{addrs(servers[:4]...), addrs(servers[0], servers[1], servers[2], servers[4])}
		outcomes := make([]outcome, len(sets))
		var both sync.WaitGroup
		for i, set := range sets {
			both.Go(func() { outcomes[i] = command(t, "reconfigure", "--from", three, "--redis", set) })
		}
		both.Wait()
		if (outcomes[0].status == exitClean) == (outcomes[1].status == exitClean) {
			t.Errorf("round %d: %+v and %+v", round, outcomes[0], outcomes[1])
		}
	}
}

// TestReconfigureCutOff: a process died after it had marked one of three nodes, which keeps silent.
func TestReconfigureCutOff(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := addrs(servers[:3]...), addrs(servers...)
	to := guard.NewFingerprint(strings.Split(four, ","), lock.DefaultMaxTTL)
	for name, c := range map[string]struct{ from, to, votes string }{
		"finished": {three, four, "quarantine|4:60000:"},
		"undone":   {four, three, "quarantine|3:60000:"},
	} {
		t.Run(name, func(t *testing.T) {
			forget(t, servers...)
			command(t, "init", "--redis", three).want(t, exitClean)
			fields := strings.Split(marked(t, servers[0])[0], "|")
			half := fmt.Sprintf("changing|%s|%s|0|change-died.1|60602|0|0|%s", string(to), fields[2], fields[1])
			must(t, admin(t, servers[0]).Set(t.Context(), redlock.MarkerKey, half, 0).Err())
			command(t, "doctor", "--redis", four).want(t, exitError, "not finished", "exchanged to undo it")
			command(t, "reconfigure", "--from", c.from, "--redis", c.to).want(t, exitClean, "changed")
			n := len(strings.Split(c.to, ","))
			for _, marker := range marked(t, servers[:n]...) {
				if !strings.HasPrefix(marker, c.votes) {
					t.Errorf("marked %q", marker)
				}
			}
		})
	}
}

// forget makes new servers of them, as far as locks go.
func forget(t *testing.T, servers ...*redisproc.Server) {
	t.Helper()
	for _, s := range servers {
		must(t, admin(t, s).FlushAll(t.Context()).Err())
	}
}
