package browser

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// -scenes writes the pictures of the scenes. Copy those that .github/pictures has from there.
var scenePictures = flag.String("scenes", "", "directory to write the pictures of the scenes to")

// questions are what somebody who is paged asks first, and which element answers in each scene.
var questions = map[string]map[string]string{
	"contention": {
		"what is waited for": row("order:1001") + `.querySelector(".what .name")`,
		"who holds it":       row("order:1001") + `.querySelector(".by .name")`,
		"since when":         row("order:1001") + `.querySelector(".by .sub")`,
		"how many wait":      row("order:1001") + `.querySelector(".n")`,
		"how long they wait": row("order:1001") + `.querySelector(".longest")`,
		"who blocks it":      row("order:1001") + `.querySelector(".chain .who")`,
		"desk: the last row": row("report:daily") + `.querySelector(".by .name")`,
	},
	"deadlock": { // what the holders wait for is in the banner
		"the cycle":       `document.querySelector("#deadlocks .alarm")`,
		"one holder":      row("invoice:2024-11") + `.querySelector(".by .name")`,
		"what it is in":   row("ledger:2024") + `.querySelector("[data-part=cycle]")`,
		"since when":      row("ledger:2024") + `.querySelector(".by .sub")`,
		"how many wait":   `document.querySelector("#t-waiting dd")`,
		"the nodes' vote": `document.querySelector("#t-nodes dd")`,
	},
	"lost-lease": {
		"who held it last":  row("order:1001") + `.querySelector(".by .name")`,
		"when it is free":   row("order:1001") + `.querySelector(".by .sub.warn")`,
		"how long one wait": row("order:1001") + `.querySelector(".longest")`,
	},
	"crowd": {
		"how many wait": row("order:1001") + `.querySelector(".n")`,
		"who holds it":  row("order:1001") + `.querySelector(".by .name")`,
		"where":         row("order:1001") + `.querySelector(".by .site")`,
	},
	"node-hung": {
		"which node":           node("redis-3:6379") + `.querySelector(".chip.bad")`,
		"since when":           node("redis-3:6379") + `.querySelector("[data-part=answered]")`,
		"the tile":             `document.querySelector("#t-nodes.is-warn dd.sub")`,
		"who holds":            row("invoice:2024-11") + `.querySelector(".by .name")`,
		"desk: the last error": node("redis-3:6379") + `.querySelector(".why .sub")`,
	},
	"two-of-five-down": {
		"one node":     node("redis-2:6379") + `.querySelector(".chip.bad")`,
		"another node": node("redis-3:6379") + `.querySelector(".chip.bad")`,
		"no spare":     `document.querySelector("#t-nodes.is-warn dd.sub")`,
		"who holds":    row("invoice:2024-11") + `.querySelector(".by .name")`,
	},
	"no-quorum": {
		"the cause":     `document.querySelector("#outages .alarm .lead")`,
		"which nodes":   `document.querySelector("#outages .alarm [data-part=down]")`,
		"the tile":      `document.querySelector("#t-nodes.is-bad dd")`,
		"for how long":  `document.querySelector("#t-wait.is-bad dd.sub")`,
		"what is stuck": row("order:1001") + `.querySelector(".by")`,
	},
	"three-of-five-hung": {
		"the cause":     `document.querySelector("#outages .alarm .lead")`,
		"which nodes":   `document.querySelector("#outages .alarm [data-part=down]")`,
		"a node":        node("redis-1:6379") + `.querySelector(".chip.bad")`,
		"what is stuck": row("order:1001") + `.querySelector(".by")`,
	},
	"no-traffic": {
		"that nobody waits": `document.querySelector("#blocked .empty")`,
		"that nobody holds": `document.querySelector("#t-held dd.sub")`,
		"how the nodes are": `document.querySelector("#t-nodes dd")`,
	},
	"two-backends": {
		"the cause":      `document.querySelector("#outages .alarm .lead")`,
		"where it hurts": `document.querySelector("#blocked .rows [data-part=set]")`,
		"a holder":       `document.querySelector("#blocked .by .heldby:not(:empty)")`,
	},
}

func row(resource string) string {
	return `[...document.querySelectorAll("#blocked .rows > li")].find(r => r.querySelector(".name").textContent === "` +
		resource + `")`
}

func node(name string) string {
	return `[...document.querySelectorAll("#nodes tbody tr")].find(r => r.querySelector(".name").textContent === "` +
		name + `")`
}

var screens = []struct{ width, height int64 }{{1440, 900}, {390, 844}}

// testScenes has the first screen of a desk and of a phone answer what is asked first, in both themes.
func testScenes(t *testing.T, b *tab) {
	scenes := livetest.Scenes()
	if len(scenes) != len(questions) {
		t.Errorf("%d scenes, of %d of which something is asked", len(scenes), len(questions))
	}
	var origins []string
	for _, scene := range scenes {
		want := scene.State(t)
		address := serve(t, livetest.NewSource(func() state.State { return want }))
		origins = append(origins, originOf(t, address))
		for _, screen := range screens {
			scale := map[bool]float64{true: 2, false: 1}[screen.width < 500]
			b.do(chromedp.EmulateViewport(screen.width, screen.height, chromedp.EmulateScale(scale)))
			b.open(address)
			b.until(`document.getElementById("connection").textContent === "Live"`)
			for _, theme := range []string{"light", "dark"} {
				b.media(dark(theme == "dark"))
				asked := questions[scene.Name]
				for _, what := range slices.Sorted(maps.Keys(asked)) {
					if screen.width < 1000 && strings.HasPrefix(what, "desk: ") {
						continue // a phone shows it after scrolling
					}
					b.wantOnFirstScreen(fmt.Sprintf("%s at %d px: %s", scene.Name, screen.width, what), asked[what])
				}
				b.keep(fmt.Sprintf("%s-%d-%s", scene.Name, screen.width, theme))
			}
			b.media()
		}
		b.wantSaidOnce(scene.Name)
	}
	b.clean(origins...)
}

func (b *tab) wantOnFirstScreen(what, element string) {
	b.t.Helper()
	inside := `(e => { const r = e?.getBoundingClientRect(); return !!r && e.textContent.trim() !== "" && r.width > 0 ` +
		`&& r.height > 0 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth })(` + element + `)`
	if !b.is(inside) {
		b.t.Errorf("%s is not on the first screen: %s", what,
			b.text(`JSON.stringify(`+element+`?.getBoundingClientRect() ?? "not there")`))
	}
}

// wantSaidOnce fails if rows repeat the errors of nodes.
func (b *tab) wantSaidOnce(scene string) {
	b.t.Helper()
	rows := b.text(`[...document.querySelectorAll("#blocked .row")].map(e => e.innerText).join("\n")`)
	for _, words := range []string{"did not answer", "refused", "timeout", "granted", "agreed"} {
		if strings.Contains(rows, words) {
			b.t.Errorf("%s: rows repeat the cause: %s", scene, rows)
		}
	}
}

// keep writes a picture of the window, if somebody asked for the pictures of the scenes.
func (b *tab) keep(name string) {
	b.t.Helper()
	if *scenePictures == "" {
		return
	}
	b.until(
		`document.querySelector("#plot svg").viewBox.baseVal.width === document.querySelector("#plot ` +
			`.canvas").clientWidth || document.querySelector("#plot .canvas").hidden`)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	small, err := fewColours(picture)
	must(b.t, err)
	must(b.t, os.MkdirAll(*scenePictures, 0o755))
	must(b.t, os.WriteFile(filepath.Join(*scenePictures, name+".png"), small, 0o644))
}
