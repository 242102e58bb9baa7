package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

const hotRow = `[...document.querySelectorAll("#blocked .rows > li")].find(r => ` +
	`r.querySelector(".name").textContent === "order:1001")`

// testFirstScreen has 1,000 callers wait for one resource. Without scrolling, on a desktop and on a phone, the page
// shows the resource, its holder, and what the holder waits for.
func testFirstScreen(t *testing.T, b *tab) {
	address := serve(t, livetest.Incident(t.Context(), t), withReport(livetest.Report))
	for _, screen := range []struct{ width, height int64 }{{1440, 900}, {768, 1024}, {390, 844}} {
		b.do(chromedp.EmulateViewport(screen.width, screen.height))
		b.open(address)
		b.until(`document.getElementById("connection").textContent === "Live"`)
		b.until(`!!(` + hotRow + `)`)
		for what, element := range map[string]string{
			"the resource":                hotRow + `.querySelector(".what .name")`,
			"how many wait":               hotRow + `.querySelector(".n")`,
			"how long":                    hotRow + `.querySelector(".longest")`,
			"the holder":                  hotRow + `.querySelector(".by .name")`,
			"where it took the lock":      hotRow + `.querySelector(".by .site")`,
			"what the holder waits for":   hotRow + `.querySelector(".chain .name")`,
			"who holds that":              hotRow + `.querySelector(".chain .who")`,
			"the deadlock":                `document.querySelector("#deadlocks .alarm")`,
			"the number of those waiting": `document.querySelector("#t-waiting dd")`,
		} {
			inside := `(r => r.width > 0 && r.height > 0 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right ` +
				`<= innerWidth)(` + element + `.getBoundingClientRect())`
			if !b.is(inside) {
				t.Errorf("at %dx%d the first screen does not show %s: %s", screen.width, screen.height, what,
					b.text(`JSON.stringify(`+element+`.getBoundingClientRect())`))
			}
		}
		b.picture(fmt.Sprintf("incident-%dx%d", screen.width, screen.height))
	}
	for what, want := range map[string][2]string{
		"the title":        {`document.title`, "Deadlock \u00b7 1,023 waiting, 37 held \u00b7 Locks"},
		"the tile":         {`document.querySelector("#t-waiting dd").textContent`, "1,023"},
		"the badge":        {`document.querySelector("#blocked .count").textContent`, "8"},
		"the row":          {hotRow + `.querySelector(".n").textContent`, "1,000"},
		"the holder":       {hotRow + `.querySelector(".by .name").textContent`, "orders-7d9f5c/1"},
		"the chain's end":  {hotRow + `.querySelector(".chain .who").textContent`, "billing-84cc/1"},
		"the chip of held": {`document.querySelector("#held [data-part=queue]").textContent`, "1,000 waiting here"},
	} {
		if got := b.text(want[0]); got != want[1] {
			t.Errorf("%s says %q, want %q", what, got, want[1])
		}
	}
	if banner := b.text(`document.getElementById("deadlocks").innerText`); !strings.Contains(banner,
		"invoice:2024-11") || !strings.Contains(banner, "ledger:2024") || !strings.Contains(banner, "incident.go:") {
		t.Errorf("the deadlock is told as %q", banner)
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.open(address + "#open=order%3A1001")
	b.until(hotRow + `?.querySelectorAll(".panel tbody tr").length === 50`)
	if said := b.text(hotRow + `.querySelector(".first").innerText`); said != "first 50 of 1,000, longest first" {
		t.Errorf("of the list it says %q", said)
	}
	b.until(`document.getElementById("t-longest").className === "is-bad"`) // after five seconds
	b.shot("incident-open", 1440)
	b.clean(originOf(t, address))
}

func testLinks(t *testing.T, b *tab) {
	s := livetest.Busy(time.Now())
	s.TraceURL = "https://tempo.example.com/trace/{traceID}?from=lockscope"
	s.Waiting[2].Blocker.Page = "http://10.0.3.17:9090/debug/locks"
	s.Waiting[2].Blocker.TraceID = livetest.Trace
	s.Waiting[3].Blocker.Page = "javascript:alert(1)"
	s.Waiting[3].Blocker.TraceID = "../../" + livetest.Trace[6:]
	s.Waiting[0].Blocker.Page = "https://me:secret@10.0.3.17/"
	b.open(serve(t, livetest.Fixed(s)) + "#show=held&open=invoice%3A2024-11")
	got := b.text(`[...document.querySelectorAll("#blocked .row a[href]")].map(a => a.href).join(" ")`)
	if want := "https://tempo.example.com/trace/" + livetest.Trace +
		"?from=lockscope http://10.0.3.17:9090/debug/locks"; got != want {
		t.Errorf("links to %q, want %q", got, want)
	}
	if !b.is(
		`[...document.querySelectorAll("main a[href]")].every(a => a.rel === "noopener noreferrer" && a.target === ` +
			`"_blank" && /^https?:$/.test(a.protocol))`) {
		t.Error("a link gives away who leads there")
	}
	if b.is(`document.body.innerHTML.includes("secret")`) {
		t.Error("a password is shown")
	}
}

func testAddress(t *testing.T, b *tab) {
	b.open(serve(t, livetest.NewSource(func() state.State { return livetest.Busy(time.Now()) })) +
		"#q=invoice&open=invoice%3A2024-11&show=held")
	b.until(
		`document.getElementById("filter").value === "invoice" && document.querySelectorAll("#blocked .rows > li").length ` +
			`=== 1`)
	b.until(
		`document.querySelector("#blocked .panel").checkVisibility() && document.querySelector("#held details").open`)
	b.do(chromedp.Click(chromedp.CSS("#blocked .open")))
	b.until(`location.hash === "#q=invoice&show=held" && !document.querySelector("#blocked .panel").checkVisibility()`)
	b.press("/")
	b.press("\u001b")
	b.until(`location.hash === "#show=held" && document.querySelectorAll("#blocked .rows > li").length === 6`)
}
