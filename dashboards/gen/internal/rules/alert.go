package rules

import (
	"maps"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Severities: critical pages, warning can wait for working hours, none is a heartbeat.
const (
	critical = "critical"
	warning  = "warning"
	none     = "none"
)

// Dashboards, as the ends of their addresses.
const (
	resourcesBoard = "lockscope-resources?var-job={{ $labels.job | urlquery }}"
	resourceBoard  = "lockscope-resource?var-job={{ $labels.job | urlquery }}" +
		"&var-resource={{ $labels.resource | urlquery }}"
	constructBoard = resourcesBoard + "&var-resource={{ $labels.resource | urlquery }}"
	nodesBoard     = "lockscope-nodes?var-job={{ $labels.job | urlquery }}"
	nodeBoard      = nodesBoard + "&var-lock_node={{ $labels.lock_node | urlquery }}"
	leaksBoard     = "lockscope-leaks?var-job={{ $labels.job | urlquery }}"
	leakBoard      = leaksBoard + "&var-lock_node={{ $labels.lock_node | urlquery }}"
)

type alert struct {
	name, severity string
	hold           model.Duration // how long the condition lasts before the alert fires
	keep           model.Duration // how long the alert keeps firing after the condition ends
	labels         map[string]string
	expr           string
	pairs          []string
	summary, about string
	board          string
}

func (m maker) alert(a alert) rulefmt.Rule {
	labels := map[string]string{"severity": a.severity}
	maps.Copy(labels, a.labels)
	return rulefmt.Rule{
		Alert:         a.name,
		Expr:          promql.Forms(m.expr(a.expr, a.pairs...)),
		For:           a.hold,
		KeepFiringFor: a.keep,
		Labels:        labels,
		Annotations: map[string]string{
			"summary":       a.summary,
			"description":   a.about,
			"runbook_url":   deploy.ShippedRunbooks + "/" + a.name + ".md",
			"dashboard_url": "/d/" + ofCluster(a.board),
		},
	}
}

// ofCluster adds the cluster to a link that names the job.
func ofCluster(board string) string {
	const own = "var-" + deploy.ClusterLabel + "={{ $labels." + deploy.ClusterLabel + " | urlquery }}&"
	address, job, found := strings.Cut(board, "?")
	if !found {
		return board
	}
	return address + "?" + own + job
}
