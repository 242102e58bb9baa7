package views

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// asset is a page with its style and script inside, and a policy that lets no other script run.
type asset struct {
	body []byte
	etag string
	csp  string
}

// newAsset puts style and script in the places that html marks for them.
func newAsset(html, style, script string) asset {
	script = "\"use strict\";(() => {\n" + script + "})();\n"
	body := strings.NewReplacer("/*style*/", style, "/*script*/", script).Replace(html)
	return asset{
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

// secure sets the headers of every answer, even of data, because a browser may be made to show JSON as a page.
func (a asset) secure(h http.Header) {
	h.Set("Content-Security-Policy", a.csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// serve writes the page, which contains no data. A browser may keep it as long as it revalidates it.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
