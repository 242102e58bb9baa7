package exporter

import "strings"

var (
	NewReloadCollector = newReloadCollector
	NewWaitCollector   = newWaitCollector
)

// Paths returns an address for each route, and those of the landing page.
func (e *Exporter) Paths() []string {
	all := []string{"/", "/nothing"}
	for _, r := range e.routes {
		all = append(all, strings.TrimSuffix(r.pattern, "{$}"))
	}
	return all
}
