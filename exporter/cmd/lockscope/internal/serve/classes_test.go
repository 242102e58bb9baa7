package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// TestVotesOfServers: new servers are in quarantine from the first vote that is asked of them.
func TestVotesOfServers(t *testing.T) {
	started := locktest.Servers(t, 3)
	if err := cmdtest.Locks(t, started...); err == nil {
		t.Fatal("new servers voted")
	}
	var nodes []servers.Node
	for _, s := range started {
		nodes = append(nodes, openNodes(t, "redis://"+s.Addr())...)
	}
	pings := newPings(guard.Config{}, set{nodes: nodes})
	pings.round(t.Context())
	votes := func() map[string]fleet.Votes {
		pings.askVotes(t.Context())
		return pings.votes
	}
	if got := votes()[""]; got != (fleet.Votes{Quorum: 2, Quarantined: 3}) {
		t.Errorf("%+v", got)
	}
	wantStates(t, pings, state.NodeQuarantined, state.NodeQuarantined, state.NodeQuarantined)
	for i, s := range started { // as after a restart that kept the data, and with a replica among them
		c := cmdtest.Admin(t, s)
		text := c.Get(t.Context(), guard.MarkerKey).Val()
		cmdtest.Set(t, c, guard.MarkerKey, strings.Replace(text, c.InfoMap(t.Context(), "server").Val()["Server"]["run_id"],
			"before", 1), 0)
		if i == 0 {
			host, port, _ := strings.Cut(started[1].Addr(), ":")
			cmdtest.Must(t, c.SlaveOf(t.Context(), host, port).Err())
		}
	}
	if got := votes()[""]; got != (fleet.Votes{Quorum: 2, Quarantined: 2}) {
		t.Errorf("with a replica %+v", got)
	}
	wantStates(t, pings, state.NodeBarred, state.NodeQuarantined, state.NodeQuarantined)
	cmdtest.Must(t, started[0].Kill())
	pings.round(t.Context())
	if got := votes()[""]; got != (fleet.Votes{Quorum: 2, Quarantined: 2}) {
		t.Errorf("with one down %+v", got)
	}
	wantStates(t, pings, state.NodeUp, state.NodeQuarantined, state.NodeQuarantined) // one failure is chance
	pings.follow(set{name: "eu", nodes: nodes[:1]}, set{name: "us", nodes: nodes[1:]})
	if got := votes(); got["eu"] != (fleet.Votes{Quorum: 1}) || got["us"] != (fleet.Votes{Quorum: 2, Voting: 2}) {
		t.Errorf("of two sets %+v", got)
	}
}

// TestVotesAsServicesCount: a server that evicts votes for services that accept that.
func TestVotesAsServicesCount(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	cmdtest.Must(t, cmdtest.Admin(t, s).ConfigSet(t.Context(), "maxmemory", "100mb").Err())
	cmdtest.Must(t, cmdtest.Admin(t, s).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	for votes, services := range map[int]diagnosis.GuardFlags{0: {}, 1: {EvictingNodes: true}} {
		pings := newPings(services.Judged(), set{nodes: openNodes(t, "redis://"+s.Addr())})
		pings.round(t.Context())
		pings.askVotes(t.Context())
		if got := pings.votes[""]; got != (fleet.Votes{Quorum: 1, Voting: votes}) {
			t.Errorf("%+v: %+v", services, got)
		}
		wantStates(t, pings, map[int]string{0: state.NodeBarred, 1: state.NodeUp}[votes])
	}
}

func wantStates(t *testing.T, p *pings, want ...string) {
	t.Helper()
	for i, n := range p.state(time.Now()) {
		if n.State != want[i] || n.Up != (want[i] == state.NodeUp) {
			t.Errorf("%s is %s, up %v, want %s", n.Name, n.State, n.Up, want[i])
		}
	}
}
