package exporter

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/lockscope/lockscope/exporter/internal/page"
)

//go:embed landing.html
var landingHTML string

//go:embed landing.css
var landingCSS string

// link is a line of the landing page.
type link struct{ path, text, description string }

// links leads to what is served, with the pages of locks and of a fleet only if they exist.
func links(locks, fleet bool) []link {
	all := []link{{"/metrics", "Metrics", "for Prometheus, with exemplars in the OpenMetrics format"}}
	if locks {
		all = append(all, link{"/" + locksPath, "Locks", "who holds what and who waits for whom, live"})
	}
	if fleet {
		all = append(all, link{"/" + fleetPath, "Fleet", "who waits for whom in all processes"})
	}
	return append(all,
		link{"/healthz", "Health", "whether the process answers"},
		link{"/readyz", "Readiness", "whether it should receive work, and why not"})
}

// landing lists the addresses. It is not a template, because with one the linker keeps every exported method of a
// program.
func landing(links []link) http.HandlerFunc {
	var list strings.Builder
	for _, l := range links {
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a>: %s</li>\n", l.path, l.text, l.description)
	}
	values := strings.NewReplacer("{{version}}", html.EscapeString(Version()), "{{links}}", list.String())
	body := page.NewAsset(values.Replace(landingHTML), landingCSS)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		body.Secure(w.Header())
		body.Serve(w, r)
	}
}
