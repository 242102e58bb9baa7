// Package asset serves pages whose style and script are inside, with headers that let no other script run.
package asset

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// Text is the part of a script that writes names, numbers, durations and times as every page does.
//
//go:embed text.js
var Text string

// Asset is a page, with its policy.
type Asset struct {
	body []byte
	etag string
	csp  string
}

// New puts style and the parts of the script in the places that html marks for them.
func New(html, style string, parts ...string) Asset {
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
