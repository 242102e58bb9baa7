package config

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
)

// TestAGroupIsReplacedByOneOfTheSameServers, and by no other one of its name: the servers of a group may be independent.
func TestAGroupIsReplacedByOneOfTheSameServers(t *testing.T) {
	group := func(name, origin string, nodes ...string) *Group {
		g := &Group{Name: name, origin: origin}
		for _, n := range nodes {
			g.Nodes = append(g.Nodes, servers.Node{Name: n})
		}
		return g
	}
	old := Groups{group("a", "old", "r1:1"), group("a", "old", "r2:1"), group("b", "old", "r3:1", "r4:1")}
	for i, g := range old {
		if got := old.replacedBy(group(g.Name, "new", g.names()...)); got != g {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for _, other := range []*Group{group("b", "new", "r1:1"), group("b", "new", "r3:1"), group("a", "new")} {
		if got := old.replacedBy(other); got != nil {
			t.Errorf("%v: %+v", other.names(), got)
		}
	}
}
