package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/scanner/report"
)

func dark(on bool) *emulation.MediaFeature {
	return &emulation.MediaFeature{Name: "prefers-color-scheme",
		Value: map[bool]string{true: "dark", false: "light"}[on]}
}

// crowded is a process that holds many locks.
func crowded() state.State {
	s := livetest.Busy(time.Now())
	s.Held = nil
	for i := range 200 {
		s.Held = append(s.Held, state.Held{Resource: fmt.Sprintf("order:%d", 1000+i), Holder: s.Instance,
			Age: 30 - .14*float64(i), Validity: new(9 - float64(i%30)/10), Fence: 1791043954000077 + uint64(i),
			Extends: 9 - i/25})
	}
	s.Omitted.Held = 41
	return s
}

func testLoads(t *testing.T, b *tab) {
	start := time.Now()
	src := livetest.NewSource(func() state.State { return livetest.Busy(start) })
	address := serve(t, src, withReport(livetest.Report))
	b.open(address)
	b.until(`document.getElementById("connection").textContent === "Live"`)
	calls := src.Called()
	eventually(t, "some updates", func() bool { return src.Called() > calls+2 })
	b.clean(originOf(t, address))
	if !b.requested("format=events") {
		t.Error("the page asked for no stream")
	}
}

// testSizes compares the page with the window: it may be taller, never wider.
func testSizes(t *testing.T, b *tab) {
	start := time.Now()
	for _, scene := range []struct {
		name  string
		state func() state.State
	}{{"rich", func() state.State { return livetest.Busy(start) }}, {"empty", livetest.Idle}, {"crowded", crowded},
		{"hostile", livetest.Hostile}} {
		address := serve(t, livetest.NewSource(scene.state), withReport(livetest.Report))
		for _, width := range []int64{1440, 1000, 768, 360, 320} {
			b.do(chromedp.EmulateViewport(width, 740))
			b.open(address + "#show=held&open=order%3A1001")
			if got := eval[int](b, `document.querySelectorAll("#held tbody tr").length`); got != len(scene.state().Held) {
				t.Fatalf("%s at %d px is another scene: %d locks are held", scene.name, width, got)
			}
			open := `document.querySelector(".fall")?.click()`
			eval[any](b, open+`, 0`)
			if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s at %d px is %d px too wide: %s", scene.name, width, over,
					b.text(
						`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && `+
							`!e.closest(".box")).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`))
			}
			if width != 1000 && width != 320 {
				b.shot(fmt.Sprintf("%s-%d-light", scene.name, width), width)
				b.media(dark(true))
				b.shot(fmt.Sprintf("%s-%d-dark", scene.name, width), width)
				b.media()
			}
		}
	}
}

func testTheme(t *testing.T, b *tab) {
	background := func() string { return b.text(`getComputedStyle(document.body).backgroundColor`) }
	address := serve(t, livetest.Fixed(livetest.Idle()))
	b.media(dark(false))
	b.open(address)
	light := background()
	b.media(dark(true))
	night := background()
	if light == night {
		t.Fatalf("the background is %s, in the dark too", light)
	}
	click := func(want, label string) {
		t.Helper()
		b.do(chromedp.Click(chromedp.CSS("#theme")))
		if got := background(); got != want {
			t.Errorf("background is %s after a click, want %s", got, want)
		}
		if got := b.text(`document.getElementById("theme").getAttribute("aria-label")`); got != "Theme: "+label {
			t.Errorf("the button says %q, want %q", got, label)
		}
	}
	click(light, "Light")
	b.open(address) // the choice survives a reload
	if got := background(); got != light {
		t.Errorf("background is %s after loading again, want %s", got, light)
	}
	click(night, "Dark")
	b.media(dark(false))
	click(light, "Auto")
}

func testReducedMotion(t *testing.T, b *tab) {
	src := livetest.NewSource(func() state.State { return livetest.Busy(time.Now()) })
	address := serve(t, src)
	b.media(&emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	b.open(address)
	if moving := eval[int](b,
		`[...document.querySelectorAll("*")].filter(e => getComputedStyle(e).transitionDuration !== "0s" && `+
			`getComputedStyle(e).transitionProperty !== "none").length`); moving > 0 {
		t.Errorf("%d elements still move", moving)
	}
}

func testEmpty(t *testing.T, b *tab) {
	b.open(serve(t, livetest.Fixed(livetest.Idle()),
		withReport(func() (report.Report, bool) { return report.Report{}, false })) + "#show=held")
	for _, id := range []string{"plot", "nodes", "held", "blocked", "slowest", "scan"} {
		if hint := b.text(`document.querySelector("#` + id + ` .empty").checkVisibility() ? document.querySelector("#` +
			id + ` .empty").textContent : ""`); len(hint) < 20 {
			t.Errorf("section %s is empty and does not say why: %q", id, hint)
		}
	}
	b.open(serve(t, livetest.Fixed(livetest.Idle())))
	if !b.is(`document.getElementById("scan").hidden`) {
		t.Error("a process without a scanner shows a scan")
	}
}
