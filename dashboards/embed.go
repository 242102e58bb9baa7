// Package dashboards holds the Grafana dashboards, the Prometheus rules and the
// runbooks that match this version of lockscope.
//
// The module in the folder gen generates the files. README.md shows how to change
// objectives and thresholds.
package dashboards

import (
	"embed"
	"io/fs"
)

//go:embed README.md grafana/*.json rules/*.yaml kubernetes/*.yaml alertmanager/*.yml runbooks/*.md provisioning
var files embed.FS

// FS returns the files: README.md, and the folders
//
//	grafana       dashboards, to import or provision
//	rules         recording rules and alerts, for rule_files of Prometheus
//	kubernetes    the same rules as a PrometheusRule
//	alertmanager  routes and inhibitions: one cause, one notification
//	runbooks      one page for each alert, <alert>.md
//	provisioning  examples of configuration for Grafana and Prometheus
//
// It is read-only and safe for concurrent use. os.CopyFS writes it to a directory.
func FS() fs.FS { return files }
