package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// testSilence: the page says how regularly a silent lock was seen, for how long, and since when it is not.
func testSilence(t *testing.T, b *tab) {
	b.open(serve(t, livetest.Fixed(livetest.Idle()), withReport(livetest.Report)))
	b.until(`document.querySelectorAll(".silences li").length === 3`)
	for i, want := range []string{
		"silent lock:report:hourly seen at least every 1\u00a0m\u00a000\u00a0s for 2\u00a0d\u00a000\u00a0h, not for 11",
		"silent lock:sync eu seen at least every 21\u00a0m\u00a000\u00a0s for 2\u00a0d\u00a021\u00a0h, not for 5\u00a0h",
		"and 1 more silent lock",
	} {
		got := b.text(fmt.Sprintf(`document.querySelectorAll(".silences li")[%d].textContent`, i))
		if got = strings.ReplaceAll(got, " ", "\u00a0"); !strings.HasPrefix(got, strings.ReplaceAll(want, " ", "\u00a0")) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if tile := b.text(`document.querySelector("#t-leaks dd.sub").textContent`); !strings.Contains(tile, "3 silent") {
		t.Errorf("the tile says %q", tile)
	}
}

// testNodeRows: a node that failed two in a thousand commands is well, and says how old its last error is.
func testNodeRows(t *testing.T, b *tab) {
	s := livetest.Idle()
	s.Nodes = []state.Node{
		{Name: "well:1", Up: true, State: state.NodeUp, Calls: 38_686, Failures: 94, NotAsked: 6930, P99: .0074,
			Error: "no answer within the node timeout", ErrorAge: new(23.0), Since: new(22.0)},
		{Name: "failing:2", Up: true, State: state.NodeUp, Calls: 1000, Failures: 11, Failing: true, Error: "ERR",
			Since: new(1.0)},
		{Name: "evicts:3", Up: true, State: state.NodeUp, Calls: 9,
			Restart: &state.Restart{Noticed: 3, Evicted: true, Witnessed: true, Left: 9}},
		{Name: "down:4", State: state.NodeDown, Calls: 7, Failures: 7, Failing: true, Quiet: new(20.0), Since: new(19.0),
			Error: "connection refused", ErrorAge: new(.2)},
	}
	b.open(serve(t, livetest.Fixed(s)))
	cell := func(name, cell string) string {
		return node(name) + `.querySelector("` + cell + `")`
	}
	for what, want := range map[string][2]string{
		"failed":    {cell("well:1", ".fails") + ".innerText", "94 (0.2\u00a0%)"},
		"tone":      {cell("well:1", ".fails") + ".className", "num fails"},
		"error":     {cell("well:1", ".why") + ".innerText.trim()", "23\u00a0s ago: no answer within the node timeout"},
		"not asked": {cell("well:1", ".skips") + ".innerText", "6,930"},
		"red":       {cell("failing:2", ".fails") + ".className", "num fails bad"},
		"evicted": {cell("evicts:3", "[data-part=restart]") + ".innerText",
			"evicted keys 3\u00a0s ago: votes although locks it forgot may be held for 9.0\u00a0s more"},
		"down": {cell("down:4", ".state") + ".innerText.trim()", "down answered 20\u00a0s ago"},
		"tile": {`document.querySelector("#t-nodes dd.sub").textContent`, "down:4 down, none to spare"},
		"order": {`[...document.querySelectorAll("main > section")].slice(0, 2).map(e => e.id).join()`,
			"nodes,blocked"},
	} {
		if got := b.text(want[0]); got != want[1] {
			t.Errorf("%s: %q, want %q", what, got, want[1])
		}
	}
	if lines := eval[int](b, `new Set([...document.querySelectorAll("#nodes tbody tr:first-child > *")].map(e => `+
		`e.getBoundingClientRect().top)).size`); lines != 1 {
		t.Errorf("the cells of a node are on %d lines", lines)
	}
	s.Nodes = slices.Clone(s.Nodes) // the page before may still be read
	s.Nodes[3].Since = new(.5)
	b.open(serve(t, livetest.Fixed(s)))
	if got := b.text(`[...document.querySelectorAll("main > section")].slice(0, 2).map(e => e.id).join()`); got !=
		"blocked,nodes" {
		t.Errorf("for a node that was late once the order is %s", got)
	}
}

// testStall: a page whose last acquisitions were fast says that nobody has acquired anything since.
func testStall(t *testing.T, b *tab) {
	s := livetest.Busy(time.Now())
	s.Totals = state.Totals{Waiting: 10, Contended: 5, Longest: 21.5,
		Recent: state.Recent{Ended: 14_706, P50: .0074, P99: .111, Stalled: 21.5}}
	s.Waits = s.Waits[:270]
	s.Stalls = []state.Stall{{At: s.At.Add(-100 * time.Second), Took: 10},
		{At: s.At.Add(-21500 * time.Millisecond), Took: 21.5}}
	b.open(serve(t, livetest.NewSource(func() state.State { return s })))
	if got := b.text(`document.getElementById("t-wait").className + ": " + document.querySelector("#t-wait ` +
		`.sub").textContent`); got != "is-bad: nothing acquired for 22\u00a0s" {
		t.Errorf("the tile says %q", got)
	}
	if n := eval[int](b, `document.querySelectorAll("#plot .stall").length`); n != 2 {
		t.Errorf("%d stalls are shaded", n)
	}
	idle := livetest.Idle()
	idle.Totals = state.Totals{Attempting: 1}
	b.open(serve(t, livetest.Fixed(idle)))
	if got := b.text(`document.querySelector("#t-wait dd").textContent.trim() + ", " + document.querySelector("#t-wait ` +
		`.sub").textContent`); got != "\u2013, none ended" {
		t.Errorf("where nobody has waited the tile says %q", got)
	}
}

// testCrashedHolder has a lease that was lost in the history, and a holder that does not renew its own. Of many former
// holds a few are shown.
func testCrashedHolder(t *testing.T, b *tab) {
	s := livetest.Idle()
	s.Totals = state.Totals{Waiting: 7, Contended: 1, Longest: 15}
	holder := &state.Blocker{Holder: "billing-84cc/1", Age: new(15.0), Remaining: new(6.1), Unrenewed: new(14.0)}
	s.Blocked = []state.Blocked{{Resource: "order:1001", Waiting: 7, Listed: 7, Longest: 15, Holder: holder,
		ByClass: state.ByClass{"holder": 7}}}
	for i := range 7 {
		s.Waiting = append(s.Waiting, state.Waiter{Resource: "order:1001", Instance: fmt.Sprint("orders/", i), For: 15,
			Kind: "holder", Class: "holder", Blocker: holder})
	}
	for i := range 20 {
		s.History = append(s.History[:0], state.History{Resource: "order:1001", Holds: append(holdsOf(s),
			state.Tenure{Holder: "orders/1", Ended: float64(60 + i), Took: 1, Unreleased: i == 0})})
	}
	b.open(serve(t, livetest.Fixed(s)) + "#open=order%3A1001")
	row := b.text(`document.querySelector("#blocked .by").innerText`)
	if !strings.Contains(row, "not renewed for 14\u00a0s, free in at most 6.1\u00a0s") {
		t.Errorf("the row says %q", row)
	}
	const holds = `document.querySelectorAll("#blocked .panel > table tbody tr").length`
	if n := eval[int](b, holds); n != 5 {
		t.Errorf("%d former holds are shown", n)
	}
	if got := b.text(`document.querySelector("#blocked .panel > table tbody tr th").innerText.` +
		`replace(/\s+/g, " ").trim()`); got != "orders/1 lost, not released" {
		t.Errorf("a lost lease is told as %q", got)
	}
	if !b.is(`(e => e.scrollHeight <= e.clientHeight + 1)(document.querySelector("#blocked .panel .box"))`) {
		t.Error("the box cuts the last of seven waiters")
	}
	b.shot("crashed-open", 1440)
	if got := b.text(`document.querySelector("#blocked .rest").innerText`); got != "15 more" {
		t.Errorf("the rest is %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#blocked .rest")))
	b.until(holds + ` === 20`)
}

func holdsOf(s state.State) []state.Tenure {
	if len(s.History) == 0 {
		return nil
	}
	return s.History[0].Holds
}

// testApart reads every page as a screen reader does: no two words of different parts run together.
func testApart(t *testing.T, b *tab) {
	for name, state := range map[string]state.State{
		"busy": livetest.Busy(time.Now()), "outage": livetest.ThreeOfFiveHung(t), "contention": livetest.Contention(t),
	} {
		b.open(serve(t, livetest.Fixed(state), withReport(livetest.Report)) + "#show=held&show=history&open=order%3A1001")
		eval[any](b, `document.querySelector(".fall").click(), 0`)
		joined := b.text(`(() => {
			const inline = e => /^inline/.test(getComputedStyle(e).display) && !e.matches("button");
			const block = e => { while (inline(e)) e = e.parentElement; return e; };
			const touch = (a, b) => block(a.parentElement) === block(b.parentElement)
				&& /\S$/.test(a.data) && /^[^\s.,;:)%]/.test(b.data);
			const walk = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT), bad = [];
			let before = null, gap = false;
			for (let n; (n = walk.nextNode());) {
				if (n.parentElement.closest("svg") || !n.parentElement.checkVisibility() || n.data === "") continue;
				if (!n.data.trim()) { gap = true; continue; }
				if (before && !gap && touch(before, n)) bad.push(before.data + n.data);
				before = n; gap = false;
			}
			return bad.join(" | ");
		})()`)
		if joined != "" {
			t.Errorf("%s: parts run together: %s", name, joined)
		}
	}
}

// testViews links each resource to the views that the process serves, and to no other.
func testViews(t *testing.T, b *tab) {
	state := livetest.Busy(time.Now())
	for i := range state.Waiting {
		state.Waiting[i].Backend = "redis"
	}
	b.open(servePage(t, livetest.Fixed(state), `"views":["profile","trace","unknown"]`) + "/?x=1#open=order%3A1001")
	got := b.text(`[...document.querySelectorAll("#blocked .views a")].map(a => a.textContent + " " + ` +
		`a.href.replace(location.origin, "")).join("\n")`)
	if want := "timeline /debug/locks/trace?resource=order%3A1001&backend=redis\nprofile by holder " +
		"/debug/locks/profile?by=holder"; got != want {
		t.Errorf("links to\n%s, want\n%s", got, want)
	}
	b.open(servePage(t, livetest.Fixed(state), `"views":[]`) + "#open=order%3A1001")
	if b.is(`[...document.querySelectorAll(".views")].some(e => e.checkVisibility())`) {
		t.Error("a process without views links to some")
	}
	if b.is(`document.getElementById("inflicted").checkVisibility()`) {
		t.Error("a process that does not count who makes others wait shows a table of it")
	}
}

// testInflicted shows who makes others wait, of a process that counts it.
func testInflicted(t *testing.T, b *tab) {
	b.open(servePage(t, livetest.Fixed(livetest.Idle()), `"views":[],`+
		`"inflicted":[{"resource":"order:*","backend":"redis","holder":"billing-84cc/1",`+
		`"call_site":"billing/settle.go:7","seconds":754.2,"waits":1912},`+
		`{"resource":"stock:*","holder":"<i>orders</i>","call_site":"","seconds":1.5,"waits":1},`+
		`{"resource":"legacy","holder":"","seconds":1,"waits":1}]`))
	got := b.text(`[...document.querySelectorAll("#inflicted tbody tr")].map(r => ` +
		`[...r.cells].map(c => c.innerText.replace(/\s+/g, " ").trim()).join(" | ")).join("\n")`)
	if want := "billing-84cc/1 billing/settle.go:7 | order:* | 12 m 34 s | 1,912\n" +
		"<i>orders</i> | stock:* | 1.5 s | 1\nunnamed | legacy | 1.0 s | 1"; got != want {
		t.Errorf("it says\n%s, want\n%s", got, want)
	}
}
