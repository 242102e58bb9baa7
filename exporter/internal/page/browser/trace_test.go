package browser

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// viewerPage embeds the viewer of chrome://tracing, which is part of Go: go tool trace shows it.
const viewerPage = `<!doctype html>
<style>html, body, #viewer { margin: 0; width: 100%; height: 100%; overflow: hidden }</style>
<script src="/static/webcomponents.min.js"></script>
<link rel="import" href="/static/trace_viewer_full.html">
<body>
<script>
addEventListener("WebComponentsReady", async () => {
	const file = await fetch("/trace").then(answer => answer.text());
	const model = new tr.Model();
	try {
		await new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([file]);
	} catch (err) {
		window.failed = String(err);
		return;
	}
	const tracks = document.createElement("track-view-container");
	tracks.id = "track_view_container";
	const viewer = document.createElement("tr-ui-timeline-view");
	viewer.id = "viewer";
	viewer.track_view_container = tracks;
	Polymer.dom(viewer).appendChild(tracks);
	viewer.globalMode = true;
	Polymer.dom(document.body).appendChild(viewer);
	viewer.model = model;
	window.viewer = viewer;
	window.model = model;
});
</script>`

// serveViewer serves a trace beside the viewer.
func serveViewer(t *testing.T, trace http.Handler) (address string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir(filepath.Join(
		strings.TrimSpace(string(root)), "src/internal/trace/traceviewer/static")))))
	mux.Handle("/trace", trace)
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(viewerPage))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// testTrace opens the trace of a contended lock on real servers in the viewer of chrome://tracing, which must import it
// without a warning and find each row, slice and arrow.
func testTrace(t *testing.T, b *tab) {
	const resource = "order:1001"
	exp := newExporter(t, contendedLock(t, resource))
	b.do(chromedp.EmulateViewport(1440, 900))
	b.do(chromedp.Navigate(serveViewer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exp.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/locks/trace?resource="+resource, nil))
	}))))
	b.until(`window.model || window.failed`)
	if failed := b.text(`window.failed || ""`); failed != "" {
		t.Fatalf("the viewer cannot import it: %s", failed)
	}
	if warnings := b.text(`model.importWarnings.map(w => w.type + ": " + w.message).join("; ")`); warnings != "" {
		t.Errorf("the viewer warns: %s", warnings)
	}
	rows := b.text(`Object.values(model.processes).map(p => p.name + "[" +
		Object.values(p.threads).map(t => t.name).sort().join(",") + "]").join(" ")`)
	for _, want := range []string{"orders/1[caller 1", "billing/7[leases]", "nodes[a,"} {
		if want = resource + " (redis): " + want; !strings.Contains(rows, want) {
			t.Errorf("rows: %s: want %s", rows, want)
		}
	}
	if arrows := eval[int](b, `model.flowEvents.length`); arrows < 4 {
		t.Errorf("%d arrows", arrows)
	}
	if loose := eval[int](b, `model.flowEvents.filter(f => !f.startSlice || !f.endSlice).length`); loose > 0 {
		t.Errorf("%d arrows lead nowhere", loose)
	}
	for _, title := range []string{"acquire: acquired", "attempt 1: refused", "acquire: granted", "acquire: failed",
		"acquire (unfinished)"} {
		if !b.is(`[...model.getDescendantEvents()].some(e => e.title === "` + title + `")`) {
			t.Errorf("no slice %q", title)
		}
	}
	showTrace(b)
}

// drawn is true after two frames.
const drawn = `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`

// showTrace keeps a picture of the whole trace, with its arrows and what is known of the lost lease.
func showTrace(b *tab) {
	b.until(`viewer.trackView && viewer.trackView.viewport`)
	b.until(drawn) // zooms to the whole trace with wide margins
	eval[int](b, `(() => {
		viewer.$["polyfill-warning"].style.display = "none";
		viewer.trackView.mouseModeSelector_.style.display = "none";
		Polymer.dom(viewer.flowEventFilter_).querySelector("input[value=All]").click();
		const lost = [...model.getDescendantEvents()].filter(e => e.category === "lease" && e.args.ended === "lost");
		viewer.brushingStateController.changeSelectionFromTimeline(new tr.model.EventSet(lost.slice(0, 1)));
		const shown = new tr.ui.TimelineDisplayTransform(), span = model.bounds.range;
		const width = viewer.trackView.viewWidth_ * devicePixelRatio;
		shown.xSetWorldBounds(model.bounds.min - span * 0.01, model.bounds.max + span * 0.01, width);
		viewer.trackView.viewport.setDisplayTransformImmediately(shown);
		return lost.length;
	})()`)
	b.until(drawn)
	b.picture("trace")
}
