package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// testUncut: the labels of the plot are whole, the end of a node's error is on the screen of a phone, and the tile of
// waits says that it has those under way.
func testUncut(t *testing.T, b *tab) {
	s := livetest.Idle()
	s.At = time.Now()
	s.Totals = state.Totals{Waiting: 12, Contended: 1, Longest: 20,
		Recent: state.Recent{Ended: 291, P50: 20, P99: 20}}
	s.Nodes = []state.Node{{Name: "orders-redis-3.prod:6379", State: state.NodeDown, Calls: 7, Failures: 7, Failing: true,
		Quiet: new(20.0), Since: new(19.0), ErrorAge: new(.2),
		Error: "dial tcp 10.0.3.17:6379: connect: connection refused"},
		{Name: "orders-redis-1.prod:6379", State: state.NodeUp, Up: true, Calls: 7},
		{Name: "orders-redis-2.prod:6379", State: state.NodeUp, Up: true, Calls: 7}}
	for i := range 60 {
		s.Waits = append(s.Waits, state.WaitPoint{At: s.At.Add(time.Duration(i-60) * time.Second), Count: 1, P50: 500,
			P99: 43_000})
	}
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 844))
		b.open(serve(t, livetest.Fixed(s)))
		b.until(`document.querySelectorAll("#plot text").length > 3`)
		if cut := b.text(`[...document.querySelectorAll("#plot text")].filter(e => e.getBBox().x < 0).map(e => ` +
			`e.textContent).join()`); cut != "" {
			t.Errorf("%d px: labels are cut: %s", width, cut)
		}
		const why = `document.querySelector("#nodes .why .sub")`
		if got := b.text(why + `.innerText`); !b.is(why+`.checkVisibility()`) || got != "just now: connection refused" ||
			!b.is(why+`.scrollHeight <= `+why+`.clientHeight + 1`) {
			t.Errorf("%d px: the error is %q, or cut", width, got)
		}
		if got := b.text(`document.querySelector("#t-wait .sub").textContent`); got !=
			"291 ended and 12 waiting, none failed" {
			t.Errorf("%d px: the tile says %q", width, got)
		}
		b.shot(fmt.Sprintf("uncut-%d", width), width)
	}
}

// fleetWithoutQuorum has three of five nodes down.
const fleetWithoutQuorum = `{"schema": 1, "at": %q, "read_seconds": 2, "instance": "lockscope/1",
	"waits_unknown": "read the queues of 2 of 5 nodes", "resources": [], "pages": [],
	"deadlocks": ["orders-1 holds order and waits for stock; stock-2 holds stock and waits for order"],
	"sets": [{"nodes": 5, "voting": 2, "quorum": 3, "no_quorum": true, "down": ["r3:6379", "r4:6379", "r5:6379"],
		"down_error": "connection refused"}]}`

// testFleetOutage: the page of all processes begins with the outage.
func testFleetOutage(t *testing.T, b *tab) {
	document := fmt.Sprintf(fleetWithoutQuorum, time.Now().UTC().Format(time.RFC3339Nano))
	fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, document)
	})
	b.open(serve(t, livetest.Fixed(livetest.Idle()), exporter.WithFleet(fleet)) + "/fleet")
	b.until(`document.getElementById("outages").checkVisibility()`)
	for what, want := range map[string][2]string{
		"the headline": {`document.getElementById("outages").innerText.replace(/\s+/g, " ").trim()`,
			"Most nodes are out: 2 of 5 answer. A lock that needs a majority of them can be neither acquired nor renewed. " +
				"Down: r3:6379, r4:6379, r5:6379 (never answered: connection refused)."},
		"the title": {`document.title`, "No quorum \u00b7 0 waiting \u00b7 Locks of all processes"},
		"the deadlock": {`document.getElementById("deadlocks").innerText.replace(/\s+/g, " ").trim()`,
			"Deadlock. orders-1 holds order and waits for stock; stock-2 holds stock and waits for order"},
	} {
		if got := b.text(want[0]); got != want[1] {
			t.Errorf("%s: %q, want %q", what, got, want[1])
		}
	}
	b.picture("fleet-outage")
}
