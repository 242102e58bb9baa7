package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// withReaders is a read/write lock with two readers of this process, one more elsewhere, and a waiting writer.
func withReaders() state.State {
	s := livetest.Idle()
	for i := range 2 {
		s.Held = append(s.Held, state.Held{Resource: "prices", Holder: "billing/1", Age: float64(12 - i), Validity: new(8.0),
			Fence: 7, Construct: state.Construct{Kind: "read"}, CallSite: "billing/run.go:42"})
	}
	s.Blocked = []state.Blocked{{Resource: "prices", Waiting: 2, Listed: 0, Longest: 4,
		Construct: state.Construct{Kind: "read"}, ByClass: state.ByClass{"holder": 2},
		Reading: state.Reading{Readers: 3, ReadBy: []string{"billing/1", "stock/7"}, Writers: 1},
		Holder:  &state.Blocker{Holder: "billing/1", Fence: 7, Age: new(12.0), Remaining: new(8.0)}}}
	s.Totals.Held, s.Totals.Waiting, s.Totals.Contended, s.Totals.Longest = 2, 2, 1, 4
	s.At = time.Now()
	return s
}

// testReaders: a read/write lock is one row on each page, with its readers and the waiting writer.
func testReaders(t *testing.T, b *tab) {
	b.open(serve(t, livetest.Fixed(withReaders())) + "#show=held")
	prices, held := row("prices"), heldRow("prices")
	for what, want := range map[string][2]string{
		"the kind":    {prices + `.querySelector(".what [data-part=kind]").textContent`, "read/write lock"},
		"the writer":  {prices + `.querySelector("[data-part=writers]").textContent`, "1 to write"},
		"the readers": {prices + `.querySelector(".by").innerText.replace(/\s+/g, " ").trim()`, "3 readers read by billing/1, stock/7 and others"},
		"held":        {held + `.querySelector("[data-part=kind]").textContent`, "2 readers"},
		"held rows":   {`String(document.querySelectorAll("#held tbody tr").length)`, "1"},
		"held by": {`[...` + held + `.querySelectorAll("[data-part=list] .waiter")].map(e => ` +
			`e.innerText.replace(/\s+/g, " ").trim()).join()`,
			"reader billing/1 billing/run.go:42,reader billing/1 billing/run.go:42"},
	} {
		if got := b.text(want[0]); got != want[1] {
			t.Errorf("%s: %q, want %q", what, got, want[1])
		}
	}
}

const fleetOfReaders = `{"schema": 1, "at": %q, "read_seconds": 2, "instance": "lockscope/1", "deadlocks": [],
	"resources": [{"resource": "prices", "waiting": 2, "processes": 2, "longest_seconds": 9, "kind": "read",
		"readers": 6, "writers": 1, "waiters": [], "read_by": [{"instance": "a/1"}, {"instance": "b/2"},
		{"instance": "c/3"}, {"instance": "d/4"}, {"instance": "e/5"}]}], "pages": []}`

// testFleetReaders: the page of all processes says the same.
func testFleetReaders(t *testing.T, b *tab) {
	document := fmt.Sprintf(fleetOfReaders, time.Now().UTC().Format(time.RFC3339Nano))
	fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, document)
	})
	b.open(serve(t, livetest.Fixed(livetest.Idle()), exporter.WithFleet(fleet)) + "/fleet")
	b.until(`document.querySelectorAll("#blocked tbody tr").length === 1`)
	want := "prices read/write lock, 6 readers, 1 to write 2 in 2 processes 9.0 s reader a/1 reader b/2 reader c/3 " +
		"reader d/4 and 2 more readers"
	row := `document.querySelector("#blocked tbody tr").innerText.replace(/\s+/g, " ").trim()`
	if got := b.text(row); got != want {
		t.Errorf("row %q, want %q", got, want)
	}
}
