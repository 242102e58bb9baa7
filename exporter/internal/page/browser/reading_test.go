package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// testReading shows the page of a process that reads the nodes at intervals: the time of the reading, the parts it
// could not read, and no quantile that was not measured.
func testReading(t *testing.T, b *tab) {
	s := state.State{
		At: time.Now(), Instance: "lockscope/1", Read: new(4.2), Unread: "queues of 1 of 3 nodes were read",
		Waiting: []state.Waiter{{Resource: "order:1001", Instance: "orders/1", For: .02, Kind: "holder",
			Blocker: &state.Blocker{Holder: "billing/2"}}},
		Nodes: []state.Node{{Name: "r1", Up: true}, {Name: "r2"}, {Name: "r3"}},
	}
	b.open(serve(t, livetest.Fixed(s)))
	updated := b.text(`document.getElementById("updated").textContent`)
	if updated != "read from the nodes 4 s ago" && updated != "read from the nodes 5 s ago" {
		t.Errorf("the header says %q", updated)
	}
	if tile := b.text(`document.getElementById("t-longest").innerText`); !strings.Contains(tile, "20\u00a0ms") ||
		!strings.Contains(tile, "when it was read") {
		t.Errorf("the longest wait is %q", tile)
	}
	if tone := b.text(`document.getElementById("t-longest").className`); tone != "" {
		t.Errorf("a wait of 20 ms is %q", tone)
	}
	const shown = `["t-wait", "plot", "slowest", "measured"].filter(id => document.getElementById(id).checkVisibility()).join() + ` +
		`": " + document.querySelector("#t-held dt").textContent`
	if got := b.text(shown); got != ": Held" {
		t.Errorf("who reads the nodes knows of no call that has ended, and shows %q", got)
	}
	if banner := b.text(`document.getElementById("unread").innerText`); !strings.Contains(banner,
		"queues of 1 of 3 nodes were read") {
		t.Errorf("what was not read is told as %q", banner)
	}
	if got := b.text(`document.querySelector("#outages .lead").innerText.trim()`); got !=
		"Most nodes are out: 1 of 3 answer." {
		t.Errorf("who reads the nodes does not know whether they vote, and says %q", got)
	}
	b.shot("reading", 1440)
	for i := range s.Nodes {
		s.Nodes[i].State = state.NodeQuarantined
	}
	b.open(serve(t, livetest.Fixed(s)))
	if got := b.text(`document.querySelector("#outages .lead").innerText.trim()`); got != "Most nodes are out: 0 of 3 vote." {
		t.Errorf("of nodes that answer, and may not vote, it says %q", got)
	}
	b.open(serve(t, livetest.Fixed(livetest.Idle())))
	if updated := b.text(`document.getElementById("updated").textContent`); !strings.HasPrefix(updated, "updated ") ||
		!b.is(`document.getElementById("unread").hidden`) {
		t.Errorf("a process that tells of itself: %q", updated)
	}
	if got := b.text(shown); got != "t-wait,plot,slowest,measured: Held here" {
		t.Errorf("a process that tells of itself shows %q", got)
	}
}

// testFailingSome has one of six callers lack a quorum while most nodes vote, and then all six.
func testFailingSome(t *testing.T, b *tab) {
	state := func(up, failing int) state.State {
		row := state.Blocked{Resource: "order:1001", Backend: "orders", Waiting: 6, Failing: 1, Longest: .3,
			Error: "lock: order:1001: no quorum: r2 hangs", Votes: "2 of 5 agreed, 0 refused, 3 did not answer (r3, r4, r5)",
			ByClass: state.ByClass{"no_quorum": failing, "holder": 6 - failing}}
		s := state.State{At: time.Now(), Instance: "orders/1", Blocked: []state.Blocked{row}, Waiting: []state.Waiter{{
			Resource: "order:1001", Backend: "orders", Instance: "orders/1", For: .3, Kind: "backing_off",
			Class: "no_quorum", Error: row.Error,
		}}}
		s.Totals = state.Totals{Waiting: 6, Contended: 1, Longest: .3}
		for i := range 5 {
			n := state.Node{Name: "r" + string(rune('1'+i)), Backend: "orders", Up: i < up, State: state.NodeUp}
			if i >= up {
				n.State = state.NodeDown
			}
			s.Nodes = append(s.Nodes, n, state.Node{Name: n.Name, Backend: "ledger", Up: true, State: state.NodeUp})
		}
		return s
	}
	for _, c := range []struct {
		up, failing  int
		by, headline string
	}{
		{4, 1, "holder unknown\n1 of 6 got no quorum", ""},
		{2, 6, "no quorum", "No quorum on orders: 2 of 5 nodes vote, 3 needed."},
	} {
		b.open(serve(t, livetest.Fixed(state(c.up, c.failing))))
		if got := b.text(`document.querySelector("#blocked .by").innerText.trim()`); got != c.by {
			t.Errorf("where %d of 5 vote and %d of 6 callers fail the row says %q, want %q", c.up, c.failing, got, c.by)
		}
		for what, got := range map[string]string{
			"the banner":        b.text(`document.querySelector("#outages .lead")?.innerText.trim() ?? ""`),
			"what is announced": b.text(`document.getElementById("news").textContent`),
			"the banner is shown": b.text(`document.getElementById("outages").checkVisibility() ? ` + quoted(c.headline) + ` ` +
				`: ""`),
		} {
			if got != c.headline {
				t.Errorf("%s: %q, want %q", what, got, c.headline)
			}
		}
		eval[any](b, `document.querySelector("#blocked .open").click(), 0`)
		b.shot(fmt.Sprintf("%d-failing-open", c.failing), 1440)
		panel := b.text(`document.querySelector("#blocked .panel").innerText`)
		for _, part := range []string{"got no quorum: 2 of 5 agreed, 0 refused, 3 did not answer (r3, r4, r5)", "r2 hangs",
			"a quorum"} {
			if strings.Count(panel, part) != 1 {
				t.Errorf("the opened row says %q %d times: %s", part, strings.Count(panel, part), panel)
			}
		}
	}
}

func quoted(s string) string { return "`" + s + "`" }
