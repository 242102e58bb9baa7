package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// testBackends: a process takes a lock of one name on two systems, the smaller of which is down.
func testBackends(t *testing.T, b *tab) {
	s := livetest.Idle()
	s.Totals = state.Totals{Held: 2, Waiting: 2, Contended: 2, Longest: 4}
	for _, name := range []string{"r1:6379", "r2:6379", "r3:6379"} {
		s.Nodes = append(s.Nodes, state.Node{Name: name, Backend: "redis", Up: true, State: state.NodeUp})
	}
	s.Nodes = append(s.Nodes, state.Node{Name: "pg:5432", Backend: "postgresql", State: state.NodeDown})
	for i, backend := range []string{"redis", "postgresql"} {
		holder := &state.Blocker{Holder: []string{"orders/1", "billing/2"}[i]}
		s.Held = append(s.Held, state.Held{Resource: "order:1", Backend: backend, Holder: "orders/1",
			Fence: uint64(7 + i)})
		s.Blocked = append(s.Blocked, state.Blocked{Resource: "order:1", Backend: backend, Waiting: 1, Listed: 1,
			Longest: 4, Holder: holder})
		s.Waiting = append(s.Waiting, state.Waiter{Resource: "order:1", Backend: backend, Instance: "waiter on " +
			backend, For: 4, Kind: "holder", Blocker: holder})
		s.History = append(s.History, state.History{Resource: "order:1", Backend: backend,
			Holds: []state.Tenure{{Holder: "before on " + backend, Ended: 9, Took: 1}}})
	}
	s.Blocked[0].Chain = []state.Link{{Resource: "order:1", Backend: "postgresql", For: 4, Holder: s.Blocked[1].Holder}}
	address := serve(t, livetest.Fixed(s))
	b.open(address + "#show=held")
	b.until(`document.querySelectorAll("#blocked .rows > li").length === 2`)
	for what, want := range map[string][2]string{
		"the rows": {`[...document.querySelectorAll("#blocked .what")].map(e => e.textContent.trim().replace(/\s+/g, " ` +
			`")).join(", ")`,
			"order:1 redis, order:1 postgresql"},
		"the chain": {`document.querySelector("#blocked .chain [data-part=set]").innerText`, "postgresql"},
		"the nodes": {`[...document.querySelectorAll("#nodes [data-part=set]")].map(e => e.innerText).join()`,
			"redis,redis,redis,postgresql"},
		"the leases": {`[...document.querySelectorAll("#held [data-part=set]")].map(e => e.innerText).join()`,
			"redis,postgresql"},
		"the tile": {`document.getElementById("t-nodes").className`, "is-bad"}, // although three of four vote
	} {
		if got := b.text(want[0]); got != want[1] {
			t.Errorf("%s: %q, want %q", what, got, want[1])
		}
	}
	b.do(chromedp.Click(chromedp.CSS("#blocked .rows > li:nth-child(2) .open")))
	b.until(`document.querySelectorAll("#blocked .panel tbody tr").length === 2`) // of the opened row
	if got := b.text(`document.querySelector("#blocked .rows > li:nth-child(2) .panel").innerText`); !strings.Contains(
		got, "waiter on postgresql") || !strings.Contains(got, "before on postgresql") ||
		strings.Contains(got, "on redis") {
		t.Errorf("the panel says %q", got)
	}
	b.open(address + "#q=postgresql")
	b.until(`document.querySelectorAll("#blocked .rows > li").length === 1`)

	alone := livetest.Idle()
	alone.Nodes, alone.Held = s.Nodes[:3], s.Held[:1]
	b.open(serve(t, livetest.Fixed(alone)) + "#show=held")
	b.until(`document.querySelectorAll("#held tbody tr").length === 1`)
	if b.is(`[...document.querySelectorAll("[data-part=set]")].some(e => e.checkVisibility())`) {
		t.Error("a process with one set of nodes names it at each lock")
	}
}
