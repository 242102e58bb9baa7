package serve

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestClassesOfWaits: what the nodes tell of a wait, and nothing else.
func TestClassesOfWaits(t *testing.T) {
	held := &listing.Lock{Nodes: 3, Of: 3}
	for name, c := range map[string]struct {
		votes votes
		lock  *listing.Lock
		want  locktrace.Wait
	}{
		"held":                      {votes{3, 3, 0}, held, locktrace.WaitHolder},
		"held, of several sets":     {votes{}, held, locktrace.WaitHolder},
		"free, or split votes":      {votes{3, 3, 0}, nil, ""},
		"of several sets":           {votes{}, nil, ""},
		"one down":                  {votes{3, 2, 0}, held, locktrace.WaitHolder},
		"two of three down":         {votes{3, 1, 0}, held, locktrace.WaitNoQuorum},
		"one down, one quarantined": {votes{3, 1, 1}, held, locktrace.WaitQuarantined},
		"two of five quarantined":   {votes{5, 3, 2}, nil, ""},
		"three of five quarantined": {votes{5, 2, 3}, nil, locktrace.WaitQuarantined},
		"one node down":             {votes{1, 0, 0}, nil, locktrace.WaitNoQuorum},
	} {
		if got := c.votes.class(c.lock); got != c.want {
			t.Errorf("%s: class %q, want %q", name, got, c.want)
		}
	}
}

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
	pings := newPings(nodes, 1)
	pings.round(t.Context())
	if got := pings.votes(t.Context()); got != (votes{3, 0, 3}) {
		t.Errorf("%+v", got)
	}
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
	if got := pings.votes(t.Context()); got != (votes{3, 0, 2}) {
		t.Errorf("with a replica %+v", got)
	}
	cmdtest.Must(t, started[0].Kill())
	pings.round(t.Context())
	if got := pings.votes(t.Context()); got != (votes{3, 0, 2}) {
		t.Errorf("with one down %+v", got)
	}
	pings.follow(nodes, 2)
	if got := pings.votes(t.Context()); got != (votes{}) {
		t.Errorf("of two sets %+v", got)
	}
}
