package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/livetest"
)

// servePage serves a page whose document has these fields in place of "views", as JSON only.
func servePage(t *testing.T, source exporter.StateSource, fields string) (address string) {
	e := newExporter(t, source)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("format") {
		case "json":
			r.Header.Del("Accept-Encoding")
			answer := httptest.NewRecorder()
			e.ServeHTTP(answer, r)
			_, _ = fmt.Fprint(w, strings.Replace(answer.Body.String(), `"views":[]`, fields, 1))
		case "events":
			http.Error(w, "poll", http.StatusServiceUnavailable)
		default:
			e.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		e.Drain()
		server.Close()
	})
	return server.URL + "/debug/locks"
}

// processes is a fleet in which two processes wait for what a third holds.
const processes = `{"schema": 1, "at": %q, "read_seconds": 2, "instance": "lockscope/1", "deadlocks": [],
	"resources": [{"resource": "order:1001", "waiting": 9, "processes": 6, "longest_seconds": 12.5,
		"chain": ["stock:991"],
		"holder": {"instance": "billing-84cc/1", "since": %q, "call_site": "billing/settle.go:7",
			"page": "http://10.0.3.17:9090/debug/locks"},
		"waiters": [{"instance": "<b>orders/1</b>", "callers": 4, "waited_seconds": 12.5, "on_node": true,
			"call_site": "orders/charge.go:42", "page": "http://10.0.3.18:9090/debug/locks"},
			{"callers": 1, "waited_seconds": 3, "on_node": true}]}],
	"pages": [{"page": "http://10.0.3.17:9090/debug/locks", "instance": "billing-84cc/1", "read_seconds": 1},
		{"page": "javascript:alert(1)", "read_seconds": null, "failing_seconds": 9, "error": "no address"}]}`

// testFleet follows the link from a live page to that of all processes, which programs still get as JSON.
func testFleet(t *testing.T, b *tab) {
	now := time.Now().UTC()
	document := fmt.Sprintf(processes, now.Format(time.RFC3339Nano), now.Add(-15*time.Second).Format(time.RFC3339Nano))
	fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, document)
	})
	address := serve(t, livetest.Fixed(livetest.Idle()), exporter.WithFleet(fleet))
	b.open(address)
	b.until(`document.getElementById("fleet").checkVisibility()`)
	b.do(chromedp.Click(chromedp.CSS("#fleet")))
	b.until(`location.pathname === "/debug/locks/fleet" && document.querySelectorAll("#blocked tbody tr").length === 1`)
	cells := b.text(`document.querySelector("#blocked tbody tr").innerText.replace(/\s+/g, " ")`)
	for _, want := range []string{"order:1001", "9 in 6 processes", "billing-84cc/1 billing/settle.go:7", "for 15",
		"which waits for stock:991", "<b>orders/1</b> 4 callers", "orders/charge.go:42", "4 more processes"} {
		if !strings.Contains(cells, want) {
			t.Errorf("the row says %q, without %q", cells, want)
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
	b.clean(originOf(t, address))
	answer, err := http.Get(address + "/fleet")
	must(t, err)
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Errorf("a program that accepts anything gets %s", got)
	}
}
