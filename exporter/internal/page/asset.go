package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/fleet.html
var fleetHTML string

//go:embed assets/page.css
var pageCSS string

// The script is in parts for people to read; browsers get it as one.
var (
	//go:embed assets/dom.js
	domJS string
	//go:embed assets/text.js
	textJS string
	//go:embed assets/links.js
	linksJS string
	//go:embed assets/tables.js
	tablesJS string
	//go:embed assets/held.js
	heldJS string
	//go:embed assets/scan.js
	scanJS string
	//go:embed assets/tiles.js
	tilesJS string
	//go:embed assets/past.js
	pastJS string
	//go:embed assets/nodes.js
	nodesJS string
	//go:embed assets/blocked.js
	blockedJS string
	//go:embed assets/banners.js
	bannersJS string
	//go:embed assets/plot.js
	plotJS string
	//go:embed assets/waterfall.js
	waterfallJS string
	//go:embed assets/connection.js
	connectionJS string
	//go:embed assets/main.js
	mainJS string
	//go:embed assets/controls.js
	controlsJS string
	//go:embed assets/fleet.js
	fleetJS string
)

// asset is a page, with the headers that allow only its own script to run.
type asset struct {
	body []byte
	etag string
	csp  string
}

// locksAsset is the page of a process, and fleetAsset that of all processes.
func locksAsset() asset {
	return newAsset(pageHTML, domJS, textJS, linksJS, tablesJS, tilesJS, nodesJS, blockedJS, pastJS, heldJS, scanJS,
		bannersJS, plotJS, waterfallJS, connectionJS, mainJS, controlsJS)
}

func fleetAsset() asset {
	return newAsset(fleetHTML, domJS, textJS, linksJS, tablesJS, connectionJS, fleetJS, controlsJS)
}

func newAsset(html string, parts ...string) asset {
	script := "\"use strict\";(() => {\n" + strings.Join(parts, "\n") + "})();\n"
	body := strings.NewReplacer("/*style*/", pageCSS, "/*script*/", script).Replace(html)
	return asset{
		body: []byte(body),
		etag: `"` + digest(body)[:22] + `"`,
		csp: strings.Join([]string{
			"default-src 'none'",
			"script-src 'sha256-" + digest(script) + "'",
			"style-src 'sha256-" + digest(pageCSS) + "'",
			"img-src data:",
			"connect-src 'self'",
			"base-uri 'none'",
			"form-action 'none'",
			"frame-ancestors 'none'",
			"require-trusted-types-for 'script'",
			"trusted-types 'none'",
		}, "; "),
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// secure sets the headers of every answer, even of data, because a browser may be made to show JSON as a page.
func (a asset) secure(h http.Header) {
	h.Set("Content-Security-Policy", a.csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// serve writes the page. It contains no data, so a browser may keep it as long as it revalidates it: the next version
// has other hashes.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
