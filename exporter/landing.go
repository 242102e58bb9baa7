package exporter

import (
	"fmt"
	"net/http"

	"github.com/prometheus/exporter-toolkit/web"
)

func (e *Exporter) landingPage() (http.Handler, error) {
	links := []web.LandingLinks{{Address: "metrics", Text: "Metrics", Description: "for Prometheus, with exemplars in the OpenMetrics format"}}
	if e.page != nil {
		links = append(links, web.LandingLinks{Address: locksPath, Text: "Locks", Description: "who holds what and who waits for whom, live"})
	}
	links = append(links,
		web.LandingLinks{Address: "healthz", Text: "Health", Description: "whether the process answers"},
		web.LandingLinks{Address: "readyz", Text: "Readiness", Description: "whether it should get work, and if not why"})
	page, err := web.NewLandingPage(web.LandingConfig{
		Name: "lockscope", Description: "Distributed locks on Redis", Version: Version(),
		Links: links, Profiling: "false", // its links lead to profiles we may not serve
	})
	if err != nil {
		return nil, fmt.Errorf("exporter: landing page: %w", err)
	}
	return page, nil
}
