package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// evil is an instance or a resource whose name is a script: what anybody who can write to Redis can choose.
const evil = `<script>window.stolen=1</script><img src=x onerror='window.stolen=1'>`

// inject puts a name into the page as a page without care would. Each way has to fail. (The tool that runs this is
// exempt from the policy for eval, so that is not tried.)
const inject = `(() => {
	window.violations = [];
	document.addEventListener("securitypolicyviolation", e => window.violations.push(e.violatedDirective));
	const name = %q;
	for (const put of [
		() => { document.body.innerHTML += name; },
		() => { document.body.insertAdjacentHTML("beforeend", name); },
		() => { const s = document.createElement("script"); s.text = "window.stolen=1"; document.body.append(s); },
		() => {
			const i = document.createElement("img");
			i.addEventListener("error", () => { window.failed = true; });
			i.src = "x"; document.body.append(i);
			i.setAttribute("onerror", "window.stolen=1");
		},
	]) { try { put(); } catch {} }
	return 0;
})()`

// TestPolicyInBrowser: on no page does a name become a script, even if the page's own script put it there as HTML; and
// no other page may frame one.
func TestPolicyInBrowser(t *testing.T) {
	browser := startBrowser(t)
	state := state.State{
		Instance: evil, Held: []state.Held{{Resource: evil, Holder: evil}},
		Waiting: []state.Waiter{{Resource: evil, Kind: evil, Blocker: &state.Blocker{Holder: evil}}},
	}
	fleet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprintf(w, `{"schema":1,"at":"2026-11-26T12:00:00Z","instance":%[1]q,"deadlocks":[%[1]q],"resources":[`+
			`{"resource":%[1]q,"waiting":1,"processes":1,"longest_seconds":1,"holder":{"instance":%[1]q},"waiters":[`+
			`{"instance":%[1]q,"callers":1,"waited_seconds":1,"on_node":true}]}],"pages":[]}`, evil)
	})
	locks := serve(t, livetest.Fixed(state), exporter.WithFleet(fleet))
	past := serve(t, livetest.Past{Hostile: true})
	for name, address := range map[string]string{
		"landing": originOf(t, locks) + "/", "locks": locks, "fleet": locks + "/fleet", "history": past + "/history",
		"metrics": originOf(t, locks) + "/metrics", "json": locks + "?format=json",
	} {
		t.Run(name, func(t *testing.T) {
			b := openTab(t, browser)
			b.do(chromedp.Navigate(address))
			if name == "locks" || name == "fleet" {
				b.until(`document.body.textContent.includes("window.stolen=1")`)
			}
			eval[int](b, fmt.Sprintf(inject, evil))
			b.until(`window.failed && window.violations.length > 0`) // else the policy was not asked
			if b.is(`"stolen" in window`) {
				t.Error("a name ran as a script")
			}
			frames := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `<iframe src=%q onload="document.title='loaded'"></iframe>`, address)
			}))
			defer frames.Close()
			b.do(chromedp.Navigate(frames.URL))
			b.until(`document.title === "loaded"`)
			framed := func(s string) bool { return strings.Contains(s, "frame-ancestors") }
			b.untilComplaint(framed)
		})
	}
}

// untilComplaint waits for something that the browser has to complain about.
func (b *tab) untilComplaint(about func(string) bool) {
	b.t.Helper()
	eventually(b.t, "the browser complains", func() bool {
		for _, c := range b.complaints() {
			if about(c) {
				return true
			}
		}
		return false
	})
}
