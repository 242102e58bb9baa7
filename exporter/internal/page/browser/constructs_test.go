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

// withConstructs is a process with an election, a set and a semaphore, two of whose slots are waited for.
func withConstructs() state.State {
	s := livetest.Idle()
	kind := func(k string, slots int) state.Construct { return state.Construct{Kind: k, Slots: slots} }
	held := func(resource string, fence uint64, of state.Construct, waiters int) state.Held {
		return state.Held{Resource: resource, Holder: "billing/1", Age: 12, Validity: new(8.0), Fence: fence, Construct: of,
			Waiters: waiters, CallSite: "billing/run.go:42"}
	}
	s.Held = []state.Held{
		held("leader", 1763700000123456, kind("election", 0), 2), held("account:1", 7, kind("set", 0), 0),
		held("account:2", 9, kind("set", 0), 0), held("exports#0", 3, kind("semaphore", 5), 0),
		held("exports#3", 4, kind("semaphore", 5), 1), held("order:1001", 5, state.Construct{}, 0),
	}
	blocked := func(resource, holder string, n int, of state.Construct, fence uint64) {
		s.Blocked = append(s.Blocked, state.Blocked{Resource: resource, Waiting: n, Listed: n, Longest: float64(4 * n),
			Construct: of, ByClass: state.ByClass{"holder": n},
			Holder: &state.Blocker{Holder: holder, Fence: fence, Age: new(12.0), Remaining: new(8.0)}})
		for i := range n {
			s.Waiting = append(s.Waiting, state.Waiter{Resource: resource, Instance: "billing/1", For: float64(4 * (n - i)),
				Kind: "holder", Class: "holder", Ahead: i})
		}
		if of.Kind == "election" {
			s.Blocked[len(s.Blocked)-1].Longest = 10_000
			s.Totals.Candidates += n
			return
		}
		s.Totals.Waiting, s.Totals.Contended = s.Totals.Waiting+n, s.Totals.Contended+1
	}
	blocked("leader", "billing/1", 2, kind("election", 0), 1763700000123456)
	blocked("exports#3", "billing/1", 1, kind("semaphore", 5), 4)
	blocked("exports#1", "stock/7", 2, kind("semaphore", 5), 0)
	s.Totals.Held, s.Totals.Longest = len(s.Held), 8
	s.At = time.Now()
	s.CountSlots()
	return s
}

// testConstructs: rows say the term and the candidates of an election, and slots of one semaphore are one row with
// their holders in it.
func testConstructs(t *testing.T, b *tab) {
	address := serve(t, livetest.Fixed(withConstructs()))
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		b.open(address + "#show=held&open=exports")
		if n := eval[int](b, `document.querySelectorAll("#blocked .rows > li").length`); n != 2 {
			t.Errorf("%d px: %d rows, want the election and the semaphore", width, n)
		}
		leader, exports := row("leader"), row("exports")
		for what, want := range map[string][2]string{
			"the election": {leader + `.querySelector(".what [data-part=kind]").textContent`,
				"election, term 1763700000123456"},
			"its candidates": {leader + `.querySelector(".many").innerText.split(",")[0]`, "2 candidates"},
			"its leader":     {leader + `.querySelector(".by .heldby").textContent`, "led by"},
			"no alarm":       {leader + `.className + ` + leader + `.querySelector(".longest").className.trim()`, "longest"},
			"the waiting calls": {`document.querySelector("#t-waiting").innerText.replace(/\s+/g, " ").trim()`,
				"Waiting 3 for 2 resources, 2 candidates stand by"},
			"the hint": {`document.querySelector("#blocked .hint").textContent`,
				"3 callers, longest wait 8.0\u00a0s, 2 candidates stand by"},
			"the semaphore":      {exports + `.querySelector(".what [data-part=kind]").textContent`, "semaphore"},
			"its slots":          {exports + `.querySelector(".by .inuse").textContent`, "at least 3 of 5 slots in use"},
			"its waiters":        {exports + `.querySelector(".n").textContent`, "3"},
			"the listed waiters": {`String(` + exports + `.querySelectorAll(".box tbody tr").length)`, "3"},
			"its holders": {`[...` + exports + `.querySelectorAll("table[aria-label='Slots in use'] tbody tr")].map(r => ` +
				`r.cells[0].textContent + " " + r.querySelector(".name").textContent).join()`,
				"slot 0 billing/1,slot 1 stock/7,slot 3 billing/1"},
			"a set's lock":     {heldRow("account:2") + `.querySelector("[data-part=kind]").textContent`, "set"},
			"the leader's row": {heldRow("leader") + `.querySelector("[data-part=queue]").textContent`, "2 candidates in line"},
			"the held slots": {`[...` + heldRow("exports") + `.querySelectorAll("[data-part=list] .waiter")].map(e => ` +
				`e.innerText.replace(/\s+/g, " ").trim()).join()`,
				"slot 0 billing/1 billing/run.go:42,slot 3 billing/1 billing/run.go:42"},
			"the kind of the held slots": {heldRow("exports") + `.querySelector("[data-part=kind]").textContent`,
				"at least 3 of 5 slots in use"},
			"rows of held locks": {`String(document.querySelectorAll("#held tbody tr").length) + " of " + ` +
				`document.querySelector("#held .count").textContent`, "5 of 5"},
			"a lock by itself": {heldRow("order:1001") + `.querySelector("[data-part=kind]").textContent`, ""},
		} {
			if got := b.text(want[0]); got != want[1] {
				t.Errorf("%d px: %s: %q, want %q", width, what, got, want[1])
			}
		}
		if !b.is(`document.documentElement.scrollWidth <= innerWidth`) {
			t.Errorf("%d px: the page is wider than the window", width)
		}
		b.shot(fmt.Sprintf("constructs-%d", width), width)
	}
}

func heldRow(resource string) string {
	return `[...document.querySelectorAll("#held tbody tr")].find(r => r.querySelector(".name").textContent === "` +
		resource + `")`
}

// fleetOfConstructs has a candidate for an election, and a semaphore of which two slots are in use.
const fleetOfConstructs = `{"schema": 1, "at": %q, "read_seconds": 2, "instance": "lockscope/1", "deadlocks": [],
	"resources": [
		{"resource": "leader", "waiting": 2, "processes": 2, "longest_seconds": 9, "kind": "election",
			"holder": {"instance": "billing/1", "fence": "1763700000123456"}, "waiters": []},
		{"resource": "exports", "waiting": 3, "processes": 2, "longest_seconds": 8, "kind": "semaphore", "slots": 5,
			"slots_in_use": 2, "waiters": [], "taken": [{"slot": 0, "holder": {"instance": "billing/1"}},
				{"slot": 3, "waits_for": "order", "holder": {"instance": "stock/7", "call_site": "stock/run.go:9"}}]},
		{"resource": "legacy", "waiting": 1, "processes": 1, "longest_seconds": 1, "waiters": [],
			"holder": {"instance": "", "never_expires": true}}],
	"pages": []}`

// testFleetConstructs: the page of all processes says what the live page says of an election and a semaphore.
func testFleetConstructs(t *testing.T, b *tab) {
	document := fmt.Sprintf(fleetOfConstructs, time.Now().UTC().Format(time.RFC3339Nano))
	fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, document)
	})
	b.open(serve(t, livetest.Fixed(livetest.Idle()), exporter.WithFleet(fleet)) + "/fleet")
	b.until(`document.querySelectorAll("#blocked tbody tr").length === 3`)
	for i, want := range []string{
		"leader election, term 1763700000123456 2 candidates in 2 processes 9.0 s billing/1",
		"exports 2 of 5 slots in use 3 in 2 processes 8.0 s slot 0 billing/1 slot 3 stock/7 stock/run.go:9 waits for order",
		"legacy 1 in 1 process 1.0 s unnamed, never expires",
	} {
		row := fmt.Sprintf(`document.querySelectorAll("#blocked tbody tr")[%d].innerText.replace(/\s+/g, " ").trim()`, i)
		if got := b.text(row); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
	b.press("/")
	b.press("stock/7")
	b.until(`document.querySelectorAll("#blocked tbody tr").length === 1`)
}
