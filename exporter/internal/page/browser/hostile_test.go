package browser

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

func testHostile(t *testing.T, b *tab) {
	address := serve(t, livetest.NewSource(livetest.Hostile), withReport(livetest.HostileReport))
	b.open(address)
	b.until(`document.getElementById("connection").textContent === "Live"`)
	eval[any](b, `document.querySelectorAll(".fall").forEach(f => f.click()), 0`)
	if n := eval[int](b,
		`document.querySelectorAll("img, script:not(body > script), main svg svg, main b:not(.readout b), [onerror], `+
			`[onload]").length`); n != 0 {
		t.Errorf("names became %d elements", n)
	}
	for _, column := range []string{"#held th .name", "#blocked .open .name", "#nodes .name", ".fall .name",
		"#scan th .name", ".silences .name"} {
		shown := eval[[]string](b, `[...document.querySelectorAll("`+column+`")].map(e => e.textContent)`)
		for name, want := range livetest.Names() {
			if !slices.Contains(shown, want) {
				t.Errorf("%s does not show %q as %s", column, name, want)
			}
		}
	}
	if stray := b.text(
		`(document.body.textContent.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/) ?? ` +
			`[""])[0]`); stray != "" {
		t.Errorf("the page holds %+q", stray)
	}
	b.clean(originOf(t, address))
}

// testNames looks for the names that a screen reader needs.
func testNames(t *testing.T, b *tab) {
	start := time.Now()
	b.open(serve(t, livetest.NewSource(func() state.State { return livetest.Busy(start) }),
		withReport(livetest.Report)) + "#show=held&open=order%3A1001")
	for what, wrong := range map[string]string{
		"inputs without a label": `[...document.querySelectorAll("input")].filter(e => !e.labels.length)`,
		"buttons without text": `[...document.querySelectorAll("button")].filter(e => ` +
			`!(e.getAttribute("aria-label") ?? e.innerText).trim())`,
		"header cells without a scope": `[...document.querySelectorAll("th")].filter(e => !e.scope)`,
		"rows without a header": `[...document.querySelectorAll("tbody tr")].filter(e => ` +
			`!e.querySelector("th[scope=row]"))`,
		"tables without a name": `[...document.querySelectorAll("table")].filter(e => !e.ariaLabel && ` +
			`!document.getElementById(e.getAttribute("aria-labelledby"))?.textContent)`,
		"sections without a heading": `[...document.querySelectorAll("section")].filter(e => ` +
			`!document.getElementById(e.getAttribute("aria-labelledby"))?.matches("h2"))`,
		"references to nothing": `[...document.querySelectorAll("[aria-controls], [aria-describedby]")].filter(e ` +
			`=> !document.getElementById(e.getAttribute("aria-controls") ?? e.getAttribute("aria-describedby")))`,
		"pictures read out": `[...document.querySelectorAll("svg")].filter(e => ` +
			`e.getAttribute("aria-hidden") !== "true")`,
		"ids used twice": `[...document.querySelectorAll("[id]")].filter(e => ` +
			`document.querySelectorAll("#" + e.id).length > 1)`,
		"boxes no keyboard scrolls": `[...document.querySelectorAll(".box")].filter(e => e.scrollHeight > ` +
			`e.clientHeight + 1 && e.tabIndex !== 0)`,
		"states told by colour alone": `[...document.querySelectorAll(".chip")].filter(e => e.checkVisibility() && ` +
			`!e.textContent)`,
		"live regions that change often": `[...document.querySelectorAll("[aria-live=polite]")].filter(e => ` +
			`e.querySelector("#updated"))`,
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
	address := serve(t, livetest.Fixed(livetest.Idle()))
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(address))
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}))
	if got := b.text(`document.body.innerText`); !strings.Contains(got, "format=json") {
		t.Errorf("without script the page says %q", got)
	}
	if got := b.text(`document.querySelector("noscript a")?.href ?? ""`); got != address+"?format=json" {
		t.Errorf("without script the page links to %q", got)
	}
}
