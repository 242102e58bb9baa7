package screen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

func nodesIn(states ...string) (all []Node) {
	for i, s := range states {
		all = append(all, Node{Name: "r" + string(rune('1'+i)), State: s})
	}
	return all
}

func TestNoQuorumIsSaidOnce(t *testing.T) {
	up, down, q := state.NodeUp, state.NodeDown, state.NodeQuarantined
	for name, c := range map[string]struct {
		nodes   []Node
		redlock bool
		decides bool
		class   locktrace.Wait // of a wait without a holder
	}{
		"all up":             {nodesIn(up, up, up, up, up), true, true, ""},
		"one dead":           {nodesIn(up, up, up, up, down), true, true, ""},
		"three dead":         {nodesIn(up, up, down, down, down), true, false, locktrace.WaitNoQuorum},
		"two in quarantine":  {nodesIn(up, q, q), true, false, locktrace.WaitQuarantined},
		"one read-only":      {nodesIn(up, up, state.NodeBarred), true, true, ""},
		"one server":         {nodesIn(up), false, true, ""},
		"one server is down": {nodesIn(down), false, false, locktrace.WaitNoQuorum},
	} {
		set := Set{Name: "redis", Redlock: c.redlock, Nodes: c.nodes}
		if set.Decides() != c.decides || set.Votes().Class(false) != c.class {
			t.Errorf("%s: decides %v, class %q", name, set.Decides(), set.Votes().Class(false))
		}
		troubles := (&Snapshot{Sets: []Set{set}}).Troubles()
		if (len(troubles) == 0) != c.decides {
			t.Errorf("%s: troubles %q", name, troubles)
		}
	}
	set := Set{Name: "eu", Redlock: true, Nodes: nodesIn(up, up, down, down, q)}
	want := "NO QUORUM in eu: 2 of 5 nodes vote, 3 needed: no lock is acquired or renewed"
	if got := (&Snapshot{Sets: []Set{set}}).Troubles(); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCandidatesStandBy: they are in no sum of waits, blame nobody, and come last in every order but that of names.
func TestCandidatesStandBy(t *testing.T) {
	snap := Snapshot{Sets: []Set{{Name: "eu", Resources: []fleet.Row{
		{Name: "leader", Callers: 9, Longest: time.Hour, Kind: lock.KindElection, Holder: heldBy("billing-1", 5, 0)},
		{Name: "order", Callers: 1, Longest: time.Second, Holder: heldBy("orders-1", 5, 0)},
	}}}}
	if callers, resources, longest := snap.Sums(); callers != 1 || resources != 1 || longest != time.Second {
		t.Errorf("%d callers, %d resources, the longest for %v", callers, resources, longest)
	}
	if n := snap.Candidates(); n != 9 {
		t.Errorf("%d candidates", n)
	}
	if b := snap.WorstBlocker(); b.Holder != "orders-1" || b.Callers != 1 {
		t.Errorf("%+v", b)
	}
	for o := range orders {
		if rows := snap.Rows(o, ""); len(rows) != 2 || (rows[0].Name == "leader") != (o == ByName) {
			t.Errorf("by %v %s is first", o, rows[0].Name)
		}
	}
}

func TestRows(t *testing.T) {
	snap := Snapshot{Sets: []Set{{Name: "eu", Resources: []fleet.Row{
		{Set: "eu", Name: "b", Callers: 2, Longest: 10 * time.Second, Holder: heldBy("Orders-1", 5, 0)},
		{Set: "eu", Name: "a", Callers: 9, Longest: time.Second},
	}}, {Name: "us", Omitted: 3, Resources: []fleet.Row{
		{Set: "us", Name: "a", Callers: 1, Longest: 15 * time.Second, Waiters: []fleet.Process{{Instance: "truck-3"}}},
	}}}}
	for _, c := range []struct {
		order  Order
		filter string
		want   string
	}{
		{ByWaiting, "", "eu/b us/a eu/a"}, {ByLongest, "", "us/a eu/b eu/a"}, {ByCallers, "", "eu/a eu/b us/a"},
		{ByName, "", "eu/a us/a eu/b"}, {ByName, "orders", "eu/b"}, {ByName, "TRUCK", "us/a"}, {ByName, "US", "us/a"},
		{ByName, "nothing", ""},
	} {
		var got []string
		for _, r := range snap.Rows(c.order, c.filter) {
			got = append(got, r.Set+"/"+r.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("by %v, filter %q: %q, want %s", c.order, c.filter, got, c.want)
		}
	}
	var seen []string
	for o := ByWaiting; !slices.Contains(seen, o.String()); o = o.Next() {
		seen = append(seen, o.String())
	}
	if len(seen) != 4 {
		t.Errorf("orders %q", seen)
	}
	if callers, resources, longest := snap.Sums(); callers != 12 || resources != 6 || longest != 15*time.Second {
		t.Errorf("%d callers, %d resources, %v", callers, resources, longest)
	}
	if snap.Find("us", "b") != nil || snap.Find("us", "a").Callers != 1 {
		t.Error("a row of another set was found")
	}
}

// TestWorstBlocker counts calls behind a chain at its end.
func TestWorstBlocker(t *testing.T) {
	chain := []fleet.Link{{Resource: "stock", Holder: "stock-2"}}
	snap := Snapshot{Sets: []Set{{Name: "redis", Resources: []fleet.Row{
		{Set: "redis", Name: "order", Callers: 3, Holder: heldBy("orders-1", 5, 0), Chain: chain},
		{Set: "redis", Name: "stock", Callers: 1, Holder: heldBy("stock-2", 5, 0)},
		{Set: "redis", Name: "free", Callers: 9},
		{Set: "redis", Name: "ring", Callers: 8, Holder: heldBy("x", 5, 0), Deadlock: true},
		{Set: "redis", Name: "jobs", Callers: 7, Taken: []fleet.HeldSlot{slotOf("jobs#0", "a")}},
		{Set: "redis", Name: "bill", Callers: 6, Holder: heldBy("y", 5, 0), Chain: []fleet.Link{{Resource: "jobs", AnySlot: true}}},
	}}}}
	if b := snap.WorstBlocker(); b != (Blocker{"stock-2", "stock", "redis", 4}) {
		t.Errorf("%+v", b)
	}
	if rows := snap.Rows(ByName, "A"); len(rows) != 1 || rows[0].Name != "jobs" {
		t.Errorf("the filter for a holder of a slot finds %d rows", len(rows))
	}
	if b := (&Snapshot{}).WorstBlocker(); b.Callers != 0 {
		t.Errorf("%+v", b)
	}
}
