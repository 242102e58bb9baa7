package exporter

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"
)

//go:embed landing.html
var landingHTML string

// link is a line of the landing page.
type link struct{ path, text, description string }

func (e *Exporter) links() []link {
	links := []link{{"/metrics", "Metrics", "for Prometheus, with exemplars in the OpenMetrics format"}}
	if e.page != nil {
		links = append(links, link{"/" + locksPath, "Locks", "who holds what and who waits for whom, live"})
	}
	if e.cfg.fleet != nil {
		links = append(links, link{"/" + fleetPath, "Fleet", "who waits where in the code of all processes, as JSON"})
	}
	return append(links,
		link{"/healthz", "Health", "whether the process answers"},
		link{"/readyz", "Readiness", "whether it should get work, and if not why"})
}

// landing says what there is. It is not a template: with one, the linker keeps every
// exported method of a program.
func (e *Exporter) landing() http.HandlerFunc {
	var list strings.Builder
	for _, l := range e.links() {
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a>: %s</li>\n", l.path, l.text, l.description)
	}
	body := strings.NewReplacer("{{version}}", html.EscapeString(Version()), "{{links}}", list.String()).Replace(landingHTML)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write([]byte(body)) // the client has gone: nobody to tell
	}
}
