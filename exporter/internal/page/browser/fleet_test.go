package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/fleet"
	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live/livetest"
)

// servePage serves a page that says that these views are beside it.
func servePage(t *testing.T, source page.Source, views ...string) (address string) {
	h := page.New(source, page.WithViews(views...))
	mux := http.NewServeMux()
	mux.Handle("/debug/locks", h)
	mux.Handle("/debug/locks/{$}", h)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		must(t, h.Close())
		server.Close()
	})
	return server.URL + "/debug/locks"
}

// processes is a fleet in which two processes wait for what a third holds.
func processes(context.Context) fleet.Document {
	now := time.Now()
	return fleet.Document{
		Schema: 1, At: now, Read: new(2.0), Instance: "lockscope/1", Deadlocks: []string{},
		Resources: []fleet.Resource{{
			Resource: "order:1001", Waiting: 9, Processes: 6, Longest: 12.5, Chain: []string{"stock:991"},
			Holder: &fleet.Holder{Instance: "billing-84cc/1", Since: now.Add(-15 * time.Second), CallSite: "billing/settle.go:7",
				Page: "http://10.0.3.17:9090/debug/locks"},
			Waiters: []fleet.Waiter{
				{Instance: "<b>orders/1</b>", Callers: 4, Waited: 12.5, CallSite: "orders/charge.go:42", OnNode: true,
					Page: "http://10.0.3.18:9090/debug/locks"},
				{Callers: 1, Waited: 3, OnNode: true},
			},
		}},
		Pages: []fleet.Read{{Page: "http://10.0.3.17:9090/debug/locks", Instance: "billing-84cc/1", Read: new(1.0)},
			{Page: "javascript:alert(1)", Failing: new(9.0), Error: "no address"}},
	}
}

// testFleet follows the link from a live page to that of all processes, which programs still get as JSON.
func testFleet(t *testing.T, b *tab) {
	e := newExporter(t, livetest.Fixed(livetest.Idle()), exporter.WithFleet(fleet.Handler(processes)))
	server := httptest.NewServer(e)
	t.Cleanup(func() {
		e.Drain()
		server.Close()
	})
	b.open(server.URL + "/debug/locks")
	b.until(`document.getElementById("fleet").checkVisibility()`)
	b.do(chromedp.Click(chromedp.CSS("#fleet")))
	b.until(`location.pathname === "/debug/locks/fleet" && document.querySelectorAll("#blocked tbody tr").length === 1`)
	row := b.text(`document.querySelector("#blocked tbody tr").innerText.replace(/\s+/g, " ")`)
	for _, want := range []string{"order:1001", "9 in 6 processes", "billing-84cc/1 billing/settle.go:7", "for 15",
		"which waits for stock:991", "<b>orders/1</b> 4 callers", "orders/charge.go:42", "4 more processes"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row says %q, without %q", row, want)
		}
	}
	if got := b.text(`[...document.querySelectorAll("main a[href]")].map(a => a.href).join(" ")`); got !=
		"http://10.0.3.17:9090/debug/locks http://10.0.3.18:9090/debug/locks http://10.0.3.17:9090/debug/locks" {
		t.Errorf("links to %s", got)
	}
	b.picture("fleet")
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 844))
		if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("at %d px it is %d px too wide", width, over)
		}
	}
	b.press("/")
	b.press("no such")
	b.until(`document.querySelector("#blocked .empty").checkVisibility()`)
	b.do(chromedp.Click(chromedp.CSS("#fleet")))
	b.until(`location.pathname === "/debug/locks"`)
	b.clean(server.URL)
	answer, err := http.Get(server.URL + "/debug/locks/fleet")
	must(t, err)
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Errorf("a program that accepts anything gets %s", got)
	}
}
