package state_test

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestSets says of each set of nodes whether it has a quorum, since when it has none, and which nodes are out.
func TestSets(t *testing.T) {
	up := func(backend, name string) state.Node {
		return state.Node{Backend: backend, Name: name, Up: true, State: state.NodeUp, Since: new(90.0)}
	}
	down := func(backend, name string, since float64) state.Node {
		return state.Node{Backend: backend, Name: name, State: state.NodeDown, Since: &since, Quiet: new(since + 1),
			Error: name + " hangs"}
	}
	sets := state.SetsOf([]state.Node{
		up("a", "a1"), down("b", "b1", 3), down("a", "a2", 30), up("a", "a3"), down("a", "a4", 20), down("a", "a5", 25),
		up("b", "b2"), {Backend: "b", Name: "b3", State: state.NodeQuarantined, Since: new(8.0)}, up("c", "c1"),
		{Backend: "c", Name: "c2", Up: true, State: state.NodeUp, Restart: &state.Restart{Enforced: true}},
		up("c", "c3"), {Backend: "d", Name: "old source"}, {Backend: "e", Name: "old source", Up: true},
		{Backend: "f", Name: "old source", Up: true, Restart: &state.Restart{Enforced: true}},
	})
	want := []state.NodeSet{
		{Backend: "a", Nodes: 5, Voting: 2, Quorum: 3, NoQuorum: true, Since: new(20.0),
			Down: []string{"a2", "a4", "a5"}, Quiet: new(21.0), Error: "a2 hangs"},
		{Backend: "b", Nodes: 3, Voting: 1, Quorum: 2, NoQuorum: true, Since: new(3.0), Down: []string{"b1"},
			Quiet: new(4.0), Error: "b1 hangs", Silent: []string{"b3"}},
		{Backend: "c", Nodes: 3, Voting: 2, Quorum: 2, Silent: []string{"c2"}},
		{Backend: "d", Nodes: 1, Quorum: 1, NoQuorum: true, Down: []string{"old source"}},
		{Backend: "e", Nodes: 1, Voting: 1, Quorum: 1},
		{Backend: "f", Nodes: 1, Quorum: 1, NoQuorum: true, Silent: []string{"old source"}},
	}
	if !slices.EqualFunc(sets, want, same) {
		t.Errorf("sets %+v\nwant %+v", sets, want)
	}
	if sets := state.SetsOf(nil); sets == nil || len(sets) > 0 {
		t.Errorf("without nodes: %+v", sets)
	}
}

func same(a, b state.NodeSet) bool {
	return a.Backend == b.Backend && a.Nodes == b.Nodes && a.Voting == b.Voting && a.Quorum == b.Quorum &&
		a.NoQuorum == b.NoQuorum && value(a.Since) == value(b.Since) && slices.Equal(a.Down, b.Down) &&
		value(a.Quiet) == value(b.Quiet) && a.Error == b.Error && slices.Equal(a.Silent, b.Silent)
}

func value(p *float64) float64 {
	if p == nil {
		return -1
	}
	return *p
}
