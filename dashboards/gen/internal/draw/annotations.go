package draw

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// Mark is an event that every chart marks.
type Mark struct {
	name, color string
	expr        string
	title, text string
	tags        string
}

// happened returns the marks of every dashboard.
func happened() []Mark {
	return []Mark{
		{name: "Alerts", color: Red, expr: `ALERTS{J,alertname=~"DistributedLock.+", alertstate="firing"}`,
			title: "{{alertname}} fires", text: "{{severity}}: {{job}} {{resource}} {{lock_node}} {{reason}}",
			tags: "alertname,severity"},
		// A version is new if it did not run five minutes ago.
		{name: "Deploys", color: Blue, expr: `count by ($JOB, version, revision) (distributed_lock_exporter_build_info{I})
			unless count by ($JOB, version, revision) (distributed_lock_exporter_build_info{I} offset 5m)`,
			title: "New version", text: "{{job}} runs {{version}} ({{revision}})", tags: "job,version"},
		{name: "Restarts", color: Yellow, expr: `time() - process_start_time_seconds{I} < 120`,
			title: "Process started", text: "{{job}} {{instance}} has started", tags: "job,instance"},
	}
}

// Losses marks lost leases of the selected resources.
func Losses() Mark {
	return Mark{name: "Lost leases", color: Purple,
		expr:  `sum by ($JOB, resource, reason) (increase(distributed_lock_lost_total{R}[1m])) > 0`,
		title: "Lease lost", text: "{{job}} lost a lease of {{resource}}: {{reason}}", tags: "resource,reason"}
}

func (m Mark) builder(fill filler) *dashboard.AnnotationQueryBuilder {
	return dashboard.NewAnnotationQueryBuilder().Name(m.name).Datasource(source()).Enable(true).Hide(false).
		IconColor(m.color).
		Expr(fill.expr(m.expr)).TitleFormat(fill.legend(m.title)).TextFormat(fill.legend(m.text)).
		TagKeys(m.tags).Step("60s")
}
