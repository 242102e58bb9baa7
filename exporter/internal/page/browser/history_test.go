package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestHistoryInBrowser is of the page at /debug/locks/history.
func TestHistoryInBrowser(t *testing.T) {
	inBrowser(t, []scene{
		{"names the blockers first", testHistory},
		{"has the words of the live page", testHistoryWords},
		{"is drawn at every size", testHistorySizes},
		{"reads the strip by keyboard", testHistoryStrip},
		{"takes a span", testHistorySpan},
		{"says what is missing", testHistoryMissing},
		{"escapes hostile names", testHistoryHostile},
	})
}

// openHistory opens the page of a source and waits for data.
func (b *tab) openHistory(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.getElementById("summary").textContent !== "Loading"`)
}

func testHistory(t *testing.T, b *tab) {
	address := serve(t, livetest.Past{})
	b.openHistory(address + "/history")
	in := func(selector string) string { return `document.querySelector("` + selector + `").textContent` }
	for what, want := range map[string]string{
		in("#summary"):                          "of waiting, up to ",
		in("#blockers tbody tr .who"):           "billing-84cc/1 at billing/invoice.go:118",
		in("#blockers tbody tr .what"):          "waited itself for stock:eu-central-1:991",
		in("#blockers [role=columnheader]"):     "Holder",
		in("#resources tbody tr .who"):          "order:1001",
		in("#resources tbody tr .by"):           "no quorum",
		in(".legend"):                           "behind a holder",
		`document.querySelector("nav a").href`:  "/debug/locks",
		`document.querySelector("#flame").href`: "/debug/locks/flame?",
	} {
		if got := b.text(what); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", what, got, want)
		}
	}
	if !b.is(`document.getElementById("incomplete").hidden && document.getElementById("failed").hidden`) {
		t.Error("something seems to be missing")
	}
	b.clean(originOf(t, address))
}

// nameless is a process whose waiters have no name, like the holder that they wait for.
type nameless struct{ livetest.Past }

func (n nameless) WaitHistory(from, to time.Time) state.WaitHistory {
	d := n.Past.WaitHistory(from, to)
	first := &d.Blockers[0]
	first.Holder, first.CallSite, first.Waited = "unnamed, never expires", "", 3725
	first.Waiters[0].Instance, first.Waiters[0].CallSite = "", ""
	d.Blockers[1].Holder, d.Blockers[1].CallSite, d.Blockers[1].Waited = "", "", 5
	return d
}

// testHistoryWords: names and durations are those of the live page.
func testHistoryWords(t *testing.T, b *tab) {
	b.openHistory(serve(t, nameless{}) + "/history")
	const rows = `[...document.querySelectorAll("#blockers tbody tr")].slice(0, 2).map(r => [...r.querySelectorAll(".who, .num:not(.share-cell), ` +
		`.by .line")].map(e => e.textContent.replace(" of waiting", "")).join("; ")).join("\n")`
	got := strings.ReplaceAll(b.text(rows), "\u00a0", " ")
	if !strings.HasPrefix(got, "unnamed, never expires; 1 h 02 m; unnamed ") || !strings.Contains(got, "\nholder unknown; 5.0 s; ") {
		t.Errorf("the first rows are\n%s", got)
	}
}

// testHistorySizes: the page may grow down, never sideways.
func testHistorySizes(t *testing.T, b *tab) {
	const wide = `[...document.querySelectorAll("body *")]
		.filter(e => e.getBoundingClientRect().right > innerWidth + 1)
		.map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`
	for name, source := range map[string]livetest.Past{"history": {}, "history-hostile": {Hostile: true}} {
		address := serve(t, source)
		for _, width := range []int64{1440, 1000, 768, 390, 320} {
			b.do(chromedp.EmulateViewport(width, 900))
			b.openHistory(address + "/history")
			if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s at %d px is %d px too wide: %s", name, width, over, b.text(wide))
			}
			for theme, on := range map[string]bool{"light": false, "dark": true} {
				b.media(dark(on))
				b.picture(fmt.Sprintf("%s-%d-%s", name, width, theme))
			}
			b.media()
		}
	}
}

func testHistoryStrip(t *testing.T, b *tab) {
	b.openHistory(serve(t, livetest.Past{}) + "/history?from=2026-11-24T02:10:00Z&to=2026-11-24T02:20:00Z")
	readout := `document.getElementById("readout").textContent`
	eval[any](b, `document.querySelector("#strip .plot").focus(), 0`)
	b.press(kb.Home)
	if got := b.text(readout); !strings.Contains(got, "no call waited") {
		t.Errorf("Home reads %q", got)
	}
	for range 27 {
		b.press(kb.ArrowRight)
	}
	if got := b.text(readout); !strings.Contains(got, "behind a holder") || strings.Count(got, ":") < 5 {
		t.Errorf("27 parts on it reads %q", got)
	}
	eval[any](b, `document.getElementById("numbers").open = true, 0`)
	b.until(`document.querySelectorAll("#numbers tbody tr").length === 60`)
	head := b.text(`document.querySelector("#numbers thead").textContent`)
	if head != "Timebehind a holderno quorumnetwork" {
		t.Errorf("the table has the columns %q", head)
	}
}

// testHistorySpan: a time of day is one of the browser's zone, and what is wrong is said.
func testHistorySpan(t *testing.T, b *tab) {
	b.openHistory(serve(t, livetest.Past{}) + "/history")
	fill := func(from, to string) {
		eval[any](b, fmt.Sprintf(`document.getElementById("from").value = %q, document.getElementById("to").value = %q,
			document.querySelector("#span [type=submit]").click(), 0`, from, to))
	}
	fill("00:00:01", "00:00:02")
	b.until(`document.getElementById("from").value === "00:00:01" && document.getElementById("to").value === "00:00:02"
		&& location.search.includes("T") && new Date(new URLSearchParams(location.search).get("from")).getSeconds() === 1`)
	fill("-30m", "")
	b.until(`location.search === "?from=-30m" && document.getElementById("summary").textContent.includes("of waiting")`)
	fill("noon", "")
	b.until(`!document.getElementById("failed").hidden && document.getElementById("failed").textContent.includes("02:10")`)
	eval[any](b, `document.querySelector("[data-from='-1h']").click(), 0`)
	b.until(`document.getElementById("failed").hidden && location.search === "?from=-1h"`)
}

// empty is a process in which nobody has waited.
type empty struct{ livetest.Past }

func (e empty) WaitHistory(from, to time.Time) state.WaitHistory {
	d := e.Past.WaitHistory(from, to)
	d.Waited, d.Classes, d.Blockers, d.Resources = 0, []state.WaitedClass{}, []state.PastBlocker{}, []state.PastResource{}
	return d
}

func testHistoryMissing(t *testing.T, b *tab) {
	summary, missing := `document.getElementById("summary").textContent`, `document.getElementById("incomplete")`
	b.openHistory(serve(t, livetest.Past{Missing: 3 * time.Minute}) + "/history")
	if got := b.text(missing + ".textContent"); !b.is("!"+missing+".hidden") || !strings.Contains(got, "are missing") {
		t.Errorf("three minutes are missing, and it says %q", got)
	}
	b.openHistory(serve(t, empty{}) + "/history")
	hidden := b.is(`document.getElementById("content").hidden`)
	if got := b.text(summary); !strings.Contains(got, "no call waited") || !hidden {
		t.Errorf("nobody waited, and it says %q", got)
	}
	b.openHistory(serve(t, empty{livetest.Past{Missing: time.Hour}}) + "/history")
	if got := b.text(summary + ` + " " + ` + missing + ".textContent"); !strings.Contains(got, "not recorded") ||
		!strings.Contains(got, "samples begin at") {
		t.Errorf("nothing is kept, and it says %q", got)
	}
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "json" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		newExporter(t, livetest.Past{}).ServeHTTP(w, r)
	}))
	defer gone.Close()
	b.do(chromedp.Navigate(gone.URL + "/debug/locks/history"))
	b.until(`document.getElementById("failed").textContent.includes("does not answer")`)
}

func testHistoryHostile(t *testing.T, b *tab) {
	address := serve(t, livetest.Past{Hostile: true})
	b.openHistory(address + "/history")
	if b.is(`document.querySelector("img") !== null`) {
		t.Error("a name became an element")
	}
	if got := b.text(`document.querySelector("#resources .who").textContent`); !strings.Contains(got, "<img src=x") ||
		strings.ContainsAny(got, "\u202e\n") {
		t.Errorf("the name is shown as %q", got)
	}
	b.clean(originOf(t, address))
}
