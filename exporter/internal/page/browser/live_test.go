package browser

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

func testUpdates(t *testing.T, b *tab) {
	src := livetest.Fixed(livetest.Idle())
	b.open(serve(t, src) + "#show=held")
	if !b.is(`document.querySelector("#held .empty").checkVisibility()`) {
		t.Error("nothing is held, and the page does not say so")
	}
	src.Set(func() state.State { return livetest.Busy(time.Now()) })
	b.until(`document.querySelectorAll("#held tbody tr").length === 6`)
	b.until(`document.querySelector("#t-waiting dd").textContent === "7"`)
	src.Set(livetest.Idle)
	b.until(
		`document.querySelectorAll("#held tbody tr").length === 0 && document.querySelector("#held ` +
			`.empty").checkVisibility()`)
}

// testKeeps adds and removes rows around the one that the user looks at.
func testKeeps(t *testing.T, b *tab) {
	start := time.Now()
	src := livetest.NewSource(func() state.State { return livetest.Busy(start) })
	b.open(serve(t, src) + "#show=held")
	eval[any](b, `window.row = document.querySelector("#held tbody tr:nth-child(3)"),
		window.fall = document.querySelectorAll(".fall")[1], fall.click(), fall.focus(),
		getSelection().selectAllChildren(row.querySelector(".name")), scrollTo(0, 300), 0`)
	src.Set(func() state.State {
		s := livetest.Busy(start)
		s.Held = append([]state.Held{{Resource: "new:1", Holder: "me", Age: 1e4}}, s.Held[1:4]...)
		s.Slowest = append([]state.Acquisition{{Resource: "slower", At: start, Took: 9}}, s.Slowest[2:]...)
		return s
	})
	b.until(`document.querySelector("#held tbody tr .name").textContent === "new:1"`)
	for what, ok := range map[string]string{
		"the row":       `row.isConnected && row.rowIndex === 3`,
		"the selection": `getSelection().toString() === "order:1001"`,
		"what is expanded": `fall.isConnected && fall.getAttribute("aria-expanded") === "true" && ` +
			`fall.nextElementSibling.checkVisibility()`,
		"the focus": `document.activeElement === fall`,
	} {
		if !b.is(ok) {
			t.Errorf("an update took away %s", what)
		}
	}
	// Content above has moved by some pixels, and the browser scrolls by as much to keep the row in place. A busy
	// browser does so in the next frame.
	b.until(`Math.abs(scrollY - 300) < 20`)
	if !b.is(`document.querySelector(".fall .name").textContent === "slower"`) {
		t.Error("the slowest is not first")
	}
}

func testBlockers(t *testing.T, b *tab) {
	start := time.Now()
	b.open(serve(t, livetest.NewSource(func() state.State { return livetest.Busy(start) })) +
		"#show=held&open=order%3A1001")
	for resource, words := range map[string][]string{
		"invoice:2024-11": {"billing-84cc/1", "\nfor ", "expires within"},
		"order:1001": {"orders-7d9f5c/1", "this process", "2 waiting, longest first", "behind 2 callers here",
			"behind 1 caller here"},
		"legacy:export": {"unnamed, never expires"},
		"cart:5541":     {"no quorum"},
		"stock:17":      {"hand-over"},
	} {
		row := b.text(
			`[...document.querySelectorAll("#blocked .rows > li")].find(r => r.querySelector(".name").textContent === ` +
				`"` + resource + `").innerText`)
		for _, w := range words {
			if !strings.Contains(row, w) {
				t.Errorf("the waiter for %s shows %q, without %q", resource, row, w)
			}
		}
	}
	b.do(chromedp.Click(chromedp.CSS(".fall")))
	for _, w := range []string{"attempt 3", "redis-4:6379", "wait for the holder", "billing-84cc/1",
		"no answer within 50ms", "granted", livetest.Trace} {
		if fall := b.text(`document.querySelector(".steps").innerText`); !strings.Contains(fall, w) {
			t.Errorf("the waterfall does not show %q: %s", w, fall)
		}
	}
}

// testRestartedNodes distinguishes a node that stays silent from one that votes nevertheless.
func testRestartedNodes(t *testing.T, b *tab) {
	state := livetest.Busy(time.Now())
	b.open(serve(t, livetest.Fixed(state)))
	for name, says := range map[string]string{
		"redis-1:6379": "",
		"redis-4:6379": "restart detected 12\u00a0s ago: does not vote for 48\u00a0s more",
		"redis-5:6379": "met shortly after its start, 3\u00a0s ago: votes although locks it forgot may be held for " +
			"57\u00a0s more",
	} {
		row := b.text(
			`[...document.querySelectorAll("#nodes tbody tr")].find(r => r.querySelector(".name").textContent === "` + name +
				`").querySelector("[data-part=restart]").innerText`)
		if row != says {
			t.Errorf("%s shows %q, not %q", name, row, says)
		}
	}
}

// testNodesThatDoNotVote: a node that only answers is not up.
func testNodesThatDoNotVote(t *testing.T, b *tab) {
	s := livetest.Busy(time.Now())
	for i := range 3 {
		s.Nodes[i] = state.Node{Name: s.Nodes[i].Name, State: state.NodeQuarantined, Calls: 9, Failures: 9,
			Error: "node may have lost locks and may not vote yet"}
	}
	b.open(serve(t, livetest.Fixed(s)))
	if got := b.text(`document.getElementById("t-nodes").innerText`); !strings.Contains(got, "1 / 5") ||
		!strings.Contains(got, "no quorum, 4 may not vote") {
		t.Errorf("with three quarantined nodes and one more that is silent the tile says %q", got)
	}
	if !b.is(
		`document.getElementById("t-nodes").className === "is-bad" && document.querySelectorAll("#nodes ` +
			`.chip.warn").length === 4`) {
		t.Error("nodes without a vote look well")
	}
	s = livetest.Busy(time.Now())
	for i := range s.Nodes {
		s.Nodes[i] = state.Node{Name: s.Nodes[i].Name, State: state.NodeUnknown, Asked: new(250.0)}
	}
	s.Nodes[0] = state.Node{Name: s.Nodes[0].Name, State: state.NodeShaky, Up: true, Calls: 100, Failures: 13,
		Asked: new(1.0)}
	s.Nodes[1] = state.Node{Name: s.Nodes[1].Name, State: state.NodeUp, Up: true, Calls: 1, Asked: new(50.0)}
	b.open(serve(t, livetest.Fixed(s)))
	if got := b.text(`document.getElementById("t-nodes").innerText`); !strings.Contains(got, "2 / 5") ||
		!strings.Contains(got, "shaky, 3 not asked for 4") || strings.Contains(got, "no quorum") {
		t.Errorf("with three nodes that nobody asked for four minutes the tile says %q", got)
	}
	if got := b.text(`document.getElementById("nodes").innerText`); strings.Count(got, "not asked for 4") != 3 ||
		!strings.Contains(got, "shaky: 13\u00a0% fail") || !strings.Contains(got, "asked 50") ||
		!b.is(`document.querySelectorAll("#nodes .chip.good").length === 0`) {
		t.Errorf("with three nodes that nobody asked for four minutes the table says %q", got)
	}
}

// testOld: what a source read long ago is not live.
func testOld(t *testing.T, b *tab) {
	s := livetest.Busy(time.Now())
	s.Read = new(40.0)
	b.open(serve(t, livetest.Fixed(s)))
	b.until(`document.getElementById("connection").textContent === "Old"`)
	if !b.is(`document.documentElement.dataset.connection !== "live"`) {
		t.Error("what was read 40 s ago is green")
	}
}

func testPause(t *testing.T, b *tab) {
	src := livetest.Fixed(livetest.Idle())
	b.open(serve(t, src))
	for _, key := range []string{"p", " "} {
		b.press(key)
		b.until(
			`document.getElementById("connection").textContent === "Paused" && document.getElementById("pause").innerText ` +
				`=== "Resume"`)
		eventually(t, "the stream ends", func() bool {
			before := src.Called()
			time.Sleep(
				1500 * time.Millisecond) // longer than between two documents, so that requests under way are of now
			return src.Called() == before
		})
		b.press(key)
		b.until(`document.getElementById("connection").textContent === "Live"`)
	}
	eval[any](b, `document.getElementById("filter").focus(), 0`)
	b.press("p ")
	if got := b.text(
		`document.getElementById("filter").value + document.getElementById("connection").textContent`); got != "p Live" {
		t.Errorf("p in the filter is not just a letter: %q", got)
	}
}

func testRestart(t *testing.T, b *tab) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	start := func(l net.Listener, state state.State) (stop func()) {
		e := newExporter(t, livetest.Fixed(state))
		server := &http.Server{Handler: e, ReadHeaderTimeout: patience}
		done := make(chan error, 1)
		go func() { done <- server.Serve(l) }()
		return func() {
			must(t, server.Close())
			<-done
			e.Drain()
		}
	}
	stop := start(listener, state.State{Instance: "first"})
	b.open("http://" + address + "/debug/locks")
	b.until(`document.getElementById("connection").textContent === "Live"`)
	stop()
	b.until(`document.getElementById("connection").textContent === "Connection lost, trying again"`)
	b.until(
		`document.getElementById("lost").checkVisibility() && document.title.startsWith("No connection") && ` +
			`getComputedStyle(document.getElementById("blocked")).opacity < 1`)
	if !b.is(
		`document.getElementById("instance").textContent === "first" && /updated \d+ s ` +
			`ago/.test(document.getElementById("updated").textContent)`) {
		t.Error("what was known before the loss is gone")
	}
	listener, err = net.Listen("tcp", address)
	must(t, err)
	stop = start(listener, state.State{Instance: "second"})
	defer stop()
	b.until(
		`document.getElementById("connection").textContent === "Live" && document.getElementById("instance").textContent ` +
			`=== "second" && document.getElementById("lost").hidden && !document.title.includes("connection")`)
}

// testPolls: when all streams are in use, the page polls.
func testPolls(t *testing.T, b *tab) {
	src := livetest.Fixed(livetest.Idle())
	address := serve(t, src)
	for takenUp := false; !takenUp; {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"?format=events", http.NoBody)
		must(t, err)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		takenUp = response.StatusCode == http.StatusServiceUnavailable
	}
	b.open(address)
	b.until(`document.getElementById("connection").textContent === "Live, polling"`)
	calls := src.Called()
	eventually(t, "a second poll", func() bool { return src.Called() > calls })
	if !b.requested("format=json") {
		t.Error("the page did not poll")
	}
}

// testPrefix puts the page behind a proxy that adds a path, and opens it in every form of that path.
func testPrefix(t *testing.T, b *tab) {
	e := newExporter(t, livetest.Fixed(state.State{Instance: "behind"}))
	server := &http.Server{Handler: http.StripPrefix("/team/orders", e), ReadHeaderTimeout: patience}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	defer func() {
		e.Drain()
		must(t, server.Close())
		<-done
	}()
	origin := "http://" + listener.Addr().String()
	for _, path := range []string{"/team/orders/debug/locks", "/team/orders/debug/locks/",
		"/team/orders/debug/locks?format=html"} {
		b.open(origin + path)
		b.until(
			`document.getElementById("connection").textContent === "Live" && document.getElementById("instance").textContent ` +
				`=== "behind"`)
	}
	b.clean(origin)
}

func testKeyboard(t *testing.T, b *tab) {
	start := time.Now()
	b.open(serve(t, livetest.NewSource(func() state.State { return livetest.Busy(start) })))
	var order []string
	for range 30 {
		b.press(kb.Tab)
		order = append(order, b.text(`(e => e.id || e.className || e.tagName)(document.activeElement)`))
		if !b.is(
			`(s => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))`) {
			t.Errorf("focus cannot be seen on %s", order[len(order)-1])
		}
		if order[len(order)-1] == "fall" {
			break
		}
	}
	got := strings.Join(order, " ")
	if !strings.HasPrefix(got, "skip filter pause theme open ") || !strings.Contains(got, " open canvas head ") ||
		!strings.HasSuffix(got, "fall") {
		t.Fatalf("tab order: %s", got)
	}
	b.press(kb.Enter)
	b.until(
		`document.activeElement.getAttribute("aria-expanded") === "true" && ` +
			`document.querySelector(".steps").checkVisibility()`)
	b.press(kb.Enter)
	b.until(
		`document.activeElement.getAttribute("aria-expanded") === "false" && ` +
			`!document.querySelector(".steps").checkVisibility()`)
}

func testFilter(t *testing.T, b *tab) {
	b.open(serve(t, livetest.Fixed(crowded()), withReport(livetest.Report)) + "#show=held")
	b.until(`document.querySelectorAll(".silences li").length === 3`)
	b.press("/")
	b.press("ORDER:10 7d9f")
	b.until(`location.hash === "#q=ORDER%3A10+7d9f&show=held"`)
	b.until(`document.querySelectorAll("#held tbody tr").length === 100`)
	for id, want := range map[string]string{"held": "100 of 241", "blocked": "1 of 6", "slowest": "0 of 5",
		"scan": "0 of 5"} {
		if got := b.text(`document.querySelector("#` + id + ` .count").textContent`); got != want {
			t.Errorf("%s counts %q, want %q", id, got, want)
		}
	}
	if !b.is(`document.querySelector(".silences").hidden`) {
		t.Error("silent locks do not match the filter, and are shown")
	}
	if got := b.text(`document.querySelector("#scan .empty").innerText`); got != "Nothing here matches the filter." {
		t.Errorf("an empty result says %q", got)
	}
	if got := b.text(`document.querySelector("#held .more").innerText`); !strings.Contains(got,
		"41 more are not shown") {
		t.Errorf("of what was left out it says %q", got)
	}
	b.press(kb.Escape)
	b.until(`document.querySelectorAll("#held tbody tr").length === 200`)
}

func testPlot(t *testing.T, b *tab) {
	b.open(serve(t, livetest.Fixed(livetest.Busy(time.Now()))))
	if got := b.text(`document.querySelector("#plot .scale").innerText`); got != "10\u00d7 a line" {
		t.Errorf("a spread of three decades is drawn %q", got)
	}
	eval[any](b, `document.querySelector(".canvas").focus(), 0`)
	latest := b.text(`document.getElementById("readout").innerText`)
	b.press(kb.Home)
	first := b.text(`document.getElementById("readout").innerText`)
	if latest == first || !strings.Contains(first, "p99") ||
		!b.is(`document.querySelectorAll("#plot circle").length === 2`) {
		t.Errorf("readout at the end %q, at the start %q", latest, first)
	}
	if !b.is(`[...document.querySelectorAll("#plot svg text")].some(e => /\d\u00a0ms$/.test(e.textContent))`) {
		t.Error("the axis has no unit")
	}
	if !b.is(`!!document.querySelector("#plot .cross")`) {
		t.Error("failed acquires are not marked")
	}
}
