package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/livetest"
)

// testReading shows the page of a process that reads the nodes at intervals: the time of the reading, the parts it
// could not read, and no quantile that was not measured.
func testReading(t *testing.T, b *tab) {
	s := live.State{
		At: time.Now(), Instance: "lockscope/1", Read: new(4.2), Unread: "queues of 1 of 3 nodes were read",
		Waiting: []live.Waiter{{Resource: "order:1001", Instance: "orders/1", For: .02, Kind: "holder",
			Blocker: &live.Blocker{Holder: "billing/2"}}},
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
	if tile := b.text(`document.querySelector("#t-wait dd").textContent`); tile != "\u2013" {
		t.Errorf("p50 / p99 are %q where none was measured", tile)
	}
	if banner := b.text(`document.getElementById("unread").innerText`); !strings.Contains(banner,
		"queues of 1 of 3 nodes were read") {
		t.Errorf("what was not read is told as %q", banner)
	}
	b.shot("reading", 1440)
	b.open(serve(t, livetest.Fixed(livetest.Idle())))
	if updated := b.text(`document.getElementById("updated").textContent`); !strings.HasPrefix(updated, "updated ") ||
		!b.is(`document.getElementById("unread").hidden`) {
		t.Errorf("a process that tells of itself: %q", updated)
	}
}

// testFailingSome: one of six callers lacks a quorum. Callers count as waiting for nodes only if most nodes do not
// vote.
func testFailingSome(t *testing.T, b *tab) {
	row := live.Blocked{Resource: "order:1001", Backend: "orders", Waiting: 6, Failing: 1, Longest: .3,
		Error: "no quorum"}
	waiter := live.Waiter{Resource: "order:1001", Backend: "orders", Instance: "orders/1", For: .3, Kind: "backoff",
		Error: "no quorum"}
	state := func(up int) live.State {
		s := live.State{At: time.Now(), Instance: "orders/1", Blocked: []live.Blocked{row},
			Waiting: []live.Waiter{waiter}}
		s.Totals = live.Totals{Waiting: 6, Contended: 1, Longest: .3}
		for i := range 5 {
			n := live.Node{Name: "r" + string(rune('1'+i)), Backend: "orders", Up: i < up, State: live.NodeUp}
			if i >= up {
				n.State = live.NodeDown
			}
			s.Nodes = append(s.Nodes, n, live.Node{Name: n.Name, Backend: "ledger", State: live.NodeDown})
		}
		return s
	}
	const by = `document.querySelector("#blocked .by").innerText`
	for up, want := range map[int][2]string{4: {"no known holder", "its next attempt"},
		2: {"waits for nodes to answer again", "nodes to answer again"}} {
		b.open(serve(t, livetest.Fixed(state(up))))
		if got := b.text(by); !strings.Contains(got, want[0]) ||
			!strings.Contains(got, "1 of 6 tried without a quorum") {
			t.Errorf("where %d of 5 vote the row says %q", up, got)
		}
		eval[any](b, `document.querySelector("#blocked .open").click(), 0`)
		if got := b.text(`document.querySelector("#blocked .panel").innerText`); !strings.Contains(got, want[1]) {
			t.Errorf("where %d of 5 vote the waiter says %q", up, got)
		}
	}
}
