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

// Asset is a page whose style and script are inside, with headers that let no other script run.
type Asset struct {
	body []byte
	etag string
	csp  string
}

// NewAsset puts style and the parts of the script in the places that html marks for them.
func NewAsset(html, style string, parts ...string) Asset {
	script := "\"use strict\";(() => {\n" + strings.Join(parts, "\n") + "})();\n"
	body := strings.NewReplacer("/*style*/", style, "/*script*/", script).Replace(html)
	return Asset{
		body: []byte(body),
		etag: `"` + digest(body)[:22] + `"`,
		csp: strings.Join([]string{
			"default-src 'none'",
			"script-src 'sha256-" + digest(script) + "'",
			"style-src 'sha256-" + digest(style) + "'",
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

// Secure sets the headers of every answer at the page's address, even of data, because a browser may be made to show
// JSON as a page.
func (a Asset) Secure(h http.Header) { secure(h, a.csp) }

// SecureData sets the headers of an answer at an address without a page.
func SecureData(h http.Header) {
	secure(h, "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

func secure(h http.Header, csp string) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// Serve writes the page. It contains no data, so a browser may keep it as long as it revalidates it: the next version
// has other hashes.
func (a Asset) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}

//go:embed assets/page.html
var pageHTML string

//go:embed assets/fleet.html
var fleetHTML string

//go:embed assets/page.css
var pageCSS string

// TextJS is the part of a script that writes names, numbers, durations and times as every page does.
//
//go:embed assets/text.js
var TextJS string

// The script is in parts for people to read; browsers get it as one.
var (
	//go:embed assets/dom.js
	domJS string
	//go:embed assets/links.js
	linksJS string
	//go:embed assets/tables.js
	tablesJS string
	//go:embed assets/constructs.js
	constructsJS string
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

// locksAsset is the page of a process, and fleetAsset that of all processes.
func locksAsset() Asset {
	return NewAsset(pageHTML, pageCSS, domJS, TextJS, linksJS, tablesJS, constructsJS, tilesJS, nodesJS, blockedJS,
		pastJS, heldJS, scanJS, bannersJS, plotJS, waterfallJS, connectionJS, mainJS, controlsJS)
}

func fleetAsset() Asset {
	return NewAsset(fleetHTML, pageCSS, domJS, TextJS, linksJS, tablesJS, constructsJS, bannersJS, connectionJS,
		fleetJS, controlsJS)
}
