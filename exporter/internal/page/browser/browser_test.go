package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// -shots saves pictures of the page for people to look at.
var shots = flag.String("shots", "", "directory to write screenshots to")

// scene is what a tab is tested for.
type scene struct {
	name string
	run  func(*testing.T, *tab)
}

func inBrowser(t *testing.T, scenes []scene) {
	browser := startBrowser(t)
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) { s.run(t, openTab(t, browser)) })
	}
}

// TestInBrowser is what make test runs of the tests in a browser.
func TestInBrowser(t *testing.T) {
	inBrowser(t, []scene{
		{"loads cleanly", testLoads},
		{"is drawn at every size", testSizes},
		{"updates live", testUpdates},
		{"shows who blocks whom", testBlockers},
		{"escapes hostile names", testHostile},
		{"names silent locks", testSilence},
		{"works by keyboard", testKeyboard},
	})
}

func TestMoreInBrowser(t *testing.T) {
	inBrowser(t, []scene{
		{"keeps focus and what is open", testKeeps},
		{"has a line for each node", testNodeRows},
		{"says that nothing is acquired", testStall},
		{"says who crashed", testCrashedHolder},
		{"keeps words apart", testApart},
		{"links to views", testViews},
		{"says who makes others wait", testInflicted},
		{"shows all processes", testFleet},
		{"explains each scene on the first screen", testScenes},
		{"answers on the first screen", testFirstScreen},
		{"leads to traces and other pages", testLinks},
		{"keeps the view in the address", testAddress},
		{"tells sets of nodes apart", testBackends},
		{"shows elections, sets and semaphores", testConstructs},
		{"shows constructs of all processes", testFleetConstructs},
		{"cuts nothing that matters", testUncut},
		{"says that all processes lack a quorum", testFleetOutage},
		{"shows readers", testReaders},
		{"shows readers of all processes", testFleetReaders},
		{"shows nodes that may have forgotten locks", testRestartedNodes},
		{"says who may vote", testNodesThatDoNotVote},
		{"does not call old data live", testOld},
		{"shows a lock on real servers", testRealLock},
		{"filters", testFilter},
		{"pauses", testPause},
		{"follows and changes the theme", testTheme},
		{"names its parts", testNames},
		{"reads the plot by keyboard", testPlot},
		{"says what would be here", testEmpty},
		{"says when the nodes were read", testReading},
		{"says of how many an attempt failed", testFailingSome},
		{"recovers from a restart", testRestart},
		{"polls without a stream", testPolls},
		{"works behind a prefix", testPrefix},
		{"keeps still if asked to", testReducedMotion},
		{"helps without script", testNoScript},
		{"opens a trace in its viewer", testTrace},
	})
}

func browserPath(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium found to test the page with: run make deps, or apt-get install chromium")
	return ""
}

func startBrowser(t *testing.T) context.Context {
	ctx, cancel := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(browserPath(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-extensions", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-color-profile", "srgb"))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // ends the browser; a crash has failed a test already
		cancel()
	})
	must(t, chromedp.Do(ctx))
	return ctx
}

// tab is a tab with its own profile that collects errors.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	trouble  []string // of console, script and policy
	requests []string
}

func openTab(t *testing.T, browser context.Context) *tab {
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab := &tab{t: t, ctx: ctx}
	must(t, chromedp.Listen(ctx, tab.heard))
	tab.do(command(network.Enable, network.EnableParams{}), chromedp.EmulateViewport(1280, 900))
	return tab
}

func (b *tab) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, fmt.Sprintf("exception: %s %s", e.ExceptionDetails.Text,
			e.ExceptionDetails.Exception.Description))
	case *log.EventEntryAdded:
		b.trouble = append(b.trouble, fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text,
			e.Entry.URL))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// clean fails the test if anything went wrong in the tab, or left these origins.
func (b *tab) clean(origins ...string) {
	b.t.Helper()
	for _, trouble := range b.complaints() {
		b.t.Errorf("the browser complains: %s", trouble)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.requests {
		known := func(origin string) bool { return strings.HasPrefix(request, origin+"/") }
		if !slices.ContainsFunc(origins, known) && !strings.HasPrefix(request, "data:") {
			b.t.Errorf("request to another origin: %s", request)
		}
	}
}

func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.trouble)
}

func (b *tab) requested(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.requests, func(r string) bool { return strings.Contains(r, part) })
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*patience)
	defer cancel()
	must(b.t, chromedp.Do(ctx, steps...))
}

func (b *tab) text(expression string) string {
	b.t.Helper()
	return eval[string](b, expression)
}

func (b *tab) is(expression string) bool {
	b.t.Helper()
	return eval[bool](b, expression)
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := try[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func try[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// until waits for a condition on the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		met, err := try[bool](b, "!!("+expression+")") // an error while the tab goes to another page
		switch {
		case met:
			return
		case err != nil && time.Now().After(end):
			b.t.Fatalf("%s: %v", expression, err)
		case time.Now().After(end):
			b.t.Fatalf("not in %v: %s\nbrowser: %s\npage: %s", patience, expression, b.complaints(),
				b.text(`document.body.innerText`))
		}
	}
}

// open loads the page and waits until it shows data.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`!document.getElementById("main").hidden`)
}

// press sends keys like a keyboard: a key whose keydown is prevented types nothing. Separate char events would.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		if len(events) == 3 {
			events[0].Text = events[1].Text
			events = append(events[:1], events[2])
		}
		for _, e := range events {
			b.do(command(input.DispatchKeyEvent, *e))
		}
	}
}

func (b *tab) media(features ...*emulation.MediaFeature) {
	b.t.Helper()
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}))
}

// picture saves what the window shows.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	must(b.t, os.MkdirAll(*shots, 0o755))
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	must(b.t, os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644))
}

// shot saves a picture of the whole page if -shots is set.
func (b *tab) shot(name string, width int64) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	must(b.t, os.MkdirAll(*shots, 0o755))
	scale := chromedp.EmulateScale(1)
	if width < 500 {
		scale = chromedp.EmulateScale(2)
	}
	height := eval[int64](b, `document.documentElement.scrollHeight`)
	b.do(chromedp.EmulateViewport(width, height, scale))
	b.until(
		`document.querySelector("#plot svg").viewBox.baseVal.width === document.querySelector("#plot ` +
			`.canvas").clientWidth || document.querySelector("#plot .canvas").hidden`)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	must(b.t, os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644))
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// serve serves an exporter on loopback, and returns the address of its page.
func serve(t *testing.T, source exporter.StateSource, opts ...exporter.Option) (address string) {
	e := newExporter(t, source, opts...)
	server := httptest.NewServer(e)
	t.Cleanup(func() {
		e.Drain()
		server.Close()
	})
	return server.URL + "/debug/locks"
}

func newExporter(t *testing.T, source exporter.StateSource, opts ...exporter.Option) *exporter.Exporter {
	e, err := exporter.New(append(opts, exporter.WithState(source), exporter.WithOwnServer())...)
	must(t, err)
	return e
}

// swept is a scanner whose last sweep returned this report.
type swept func() (report.Report, bool)

func (report swept) Snapshot() scanner.Snapshot {
	last, _ := report()
	return scanner.Snapshot{Last: last}
}

func withReport(report swept) exporter.Option { return exporter.WithScanner(report) }

func originOf(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Host == "" {
		err = errors.New("no host")
	}
	must(t, err)
	return u.Scheme + "://" + u.Host
}
