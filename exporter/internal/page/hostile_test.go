package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/page"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner"
)

// names that people and programs choose, and what the page shows of them.
var names = map[string]string{
	`<img src=x onerror=alert(1)>`:              `<img src=x onerror=alert(1)>`,
	`</script><script>alert(2)</script>`:        `</script><script>alert(2)</script>`,
	`"><svg onload=alert(3)>`:                   `"\"><svg onload=alert(3)>"`,
	"order:\u202e1001:drowssap":                 `"order:\u202e1001:drowssap"`,
	"a\x00b\x1b[2J\x7f\r\n":                     `"a\x00b\x1b[2J\x7f\r\n"`,
	"two  spaces and\u00a0none":                 `"two  spaces and\u00a0none"`,
	strings.Repeat("long/", 102) + "or":         strings.Repeat("long/", 102) + "or",
	strings.Repeat("x", 512):                    strings.Repeat("x", 512),
	"\U0001F512 locked \U0001F600 \u65e5\u672c": "\U0001F512 locked \U0001F600 \u65e5\u672c",
	"{{constructor.constructor('1')()}}":        "{{constructor.constructor('1')()}}",
	"javascript:alert(4)":                       "javascript:alert(4)",
	"__proto__":                                 "__proto__",
}

// hostile is a process whose every name was chosen by somebody else.
func hostile() live.State {
	s := live.State{At: time.Now(), Instance: `<b>"instance"</b>`}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		s.Held = append(s.Held, live.Held{Resource: name, Holder: name, Age: 1, Validity: new(1.0), TraceID: name})
		s.Waiting = append(s.Waiting, live.Waiter{Resource: name, Kind: name, Error: name, TraceID: name, Blocker: &live.Blocker{Holder: name, TraceID: name}})
		s.Nodes = append(s.Nodes, live.Node{Name: name, Error: name})
		s.Slowest = append(s.Slowest, live.Acquisition{Resource: name, At: s.At, Took: 1, Outcome: name, Error: name, TraceID: name,
			Steps: []live.Step{{Kind: name, Name: name, Outcome: name, Detail: name}, {Kind: "wait", Name: name, Outcome: name, Took: 1}}})
	}
	return s
}

func hostileReport() (scanner.Report, bool) {
	r := scanner.Report{Started: time.Now()}
	for name := range names {
		r.Findings = append(r.Findings, scanner.Finding{Class: scanner.Class(name), Node: name, Key: name, Type: name, Evidence: name, Hold: scanner.Hold{Holder: lock.Holder{Instance: name}, Format: scanner.Format(name)}})
	}
	return r, true
}

func testHostile(t *testing.T, b *tab) {
	address := serve(t, &source{state: hostile}, page.WithReport(hostileReport))
	b.open(address)
	b.until(`document.getElementById("connection").textContent === "Live"`)
	eval[any](b, `document.querySelectorAll(".fall").forEach(f => f.click()), 0`)
	if n := eval[int](b, `document.querySelectorAll("img, script:not(body > script), main svg svg, main b:not(.readout b), [onerror], [onload]").length`); n != 0 {
		t.Errorf("names became %d elements", n)
	}
	for _, column := range []string{"#held th .name", "#waiting th .name", "#nodes th .name", ".fall .name", "#scan th .name"} {
		shown := eval[[]string](b, `[...document.querySelectorAll("`+column+`")].map(e => e.textContent)`)
		for name, want := range names {
			if !slices.Contains(shown, want) {
				t.Errorf("%s does not show %q as %s", column, name, want)
			}
		}
	}
	if stray := b.text(`(document.body.textContent.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/) ?? [""])[0]`); stray != "" {
		t.Errorf("the page holds %+q", stray)
	}
	b.clean(originOf(t, address))
}

// testNames looks for what a screen reader needs.
func testNames(t *testing.T, b *tab) {
	start := time.Now()
	b.open(serve(t, &source{state: func() live.State { return busy(start) }}, page.WithReport(report)))
	for what, wrong := range map[string]string{
		"inputs without a label":         `[...document.querySelectorAll("input")].filter(e => !e.labels.length)`,
		"buttons without text":           `[...document.querySelectorAll("button")].filter(e => !(e.getAttribute("aria-label") ?? e.innerText).trim())`,
		"header cells without a scope":   `[...document.querySelectorAll("th")].filter(e => !e.scope)`,
		"rows without a header":          `[...document.querySelectorAll("tbody tr")].filter(e => !e.querySelector("th[scope=row]"))`,
		"tables without a name":          `[...document.querySelectorAll("table")].filter(e => !document.getElementById(e.getAttribute("aria-labelledby"))?.textContent)`,
		"sections without a heading":     `[...document.querySelectorAll("section")].filter(e => !document.getElementById(e.getAttribute("aria-labelledby"))?.matches("h2"))`,
		"references to nothing":          `[...document.querySelectorAll("[aria-controls], [aria-describedby]")].filter(e => !document.getElementById(e.getAttribute("aria-controls") ?? e.getAttribute("aria-describedby")))`,
		"pictures read out":              `[...document.querySelectorAll("svg")].filter(e => e.getAttribute("aria-hidden") !== "true")`,
		"ids used twice":                 `[...document.querySelectorAll("[id]")].filter(e => document.querySelectorAll("#" + e.id).length > 1)`,
		"boxes no keyboard scrolls":      `[...document.querySelectorAll(".box")].filter(e => e.scrollHeight > e.clientHeight + 1 && e.tabIndex !== 0)`,
		"states told by colour alone":    `[...document.querySelectorAll(".chip")].filter(e => e.checkVisibility() && !e.textContent)`,
		"live regions that change often": `[...document.querySelectorAll("[aria-live=polite]")].filter(e => e.querySelector("#updated"))`,
	} {
		if n := eval[int](b, wrong+".length"); n != 0 {
			t.Errorf("%d %s: %s", n, what, b.text(wrong+".map(e => e.outerHTML.slice(0, 120)).join()"))
		}
	}
	if !b.is(`document.querySelectorAll("main, h1").length === 2 && document.documentElement.lang === "en"`) {
		t.Error("the page lacks main, h1 or its language")
	}
}

func testNoScript(t *testing.T, b *tab) {
	address := serve(t, fixed(idle()))
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate(address))
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}))
	if got := b.text(`document.body.innerText`); !strings.Contains(got, "format=json") {
		t.Errorf("without script the page says %q", got)
	}
	if got := b.text(`document.querySelector("noscript a")?.href ?? ""`); got != address+"?format=json" {
		t.Errorf("without script the page links to %q", got)
	}
}
