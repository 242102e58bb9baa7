package boards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/logs"
	"github.com/grafana/grafana-foundation-sdk/go/loki"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/tempo"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// Names of the variables that choose where logs and traces are.
const (
	logsVariable   = "logs"
	tracesVariable = "traces"
)

// resourcePattern stands for the resources of a label: order:* is that of order:1001, and as a
// pattern it matches the beginning of it.
const resourcePattern = `(${resource:pipe})`

// elsewhere builds panels that do not ask Prometheus.
func (p panel) elsewhere() (dashboard.Panel, error) {
	var made dashboard.Panel
	var err error
	switch p.kind {
	case logLines:
		made, err = p.logs("loki", logsVariable).Build()
	case traces:
		made, err = p.traces("tempo", tracesVariable).Build()
	default:
		made = firing()
	}
	made.Title, made.Description = &p.title, &p.about
	return made, err
}

func (p panel) logs(kind, variable string) cog.Builder[dashboard.Panel] {
	from := chosen(kind, variable)
	return logs.NewPanelBuilder().Datasource(from).ShowTime(true).WrapLogMessage(true).EnableLogDetails(true).
		SortOrder(common.LogsSortOrderDescending).DedupStrategy(common.LogsDedupStrategyNone).
		WithTarget(loki.NewDataqueryBuilder().RefId("A").Datasource(from).Expr(p.queries[0].expr).QueryType("range").MaxLines(200))
}

func (p panel) traces(kind, variable string) cog.Builder[dashboard.Panel] {
	from := chosen(kind, variable)
	return table.NewPanelBuilder().Datasource(from).ShowHeader(true).CellHeight(common.TableCellHeightSm).
		WithTarget(target{tempo.NewDataqueryBuilder().RefId("A").Datasource(from).QueryType("traceql").
			Query(p.queries[0].expr).TableType(tempo.SearchTableTypeTraces).Limit(50)})
}

// target is a query of the SDK as its panels take it.
type target struct {
	cog.Builder[variants.Dataquery]
}

func chosen(kind, variable string) common.DataSourceRef {
	return common.DataSourceRef{Type: &kind, Uid: new("${" + variable + "}")}
}

// firing is Grafana's own list, of the alerts of these rules in all its sources. The watchdog
// is not in it.
func firing() dashboard.Panel {
	return dashboard.Panel{Type: "alertlist", Options: map[string]any{
		"alertName": "DistributedLock", "alertInstanceLabelFilter": `{severity=~"critical|warning"}`,
		"dashboardAlerts": false, "groupMode": "default", "groupBy": []string{}, "maxItems": 20, "sortOrder": 3, "viewMode": "list",
		"stateFilter": map[string]bool{"firing": true, "pending": true, "noData": false, "normal": false, "error": true},
	}}
}

// searched are the panels of logs and traces of the chosen resource.
func searched(c config.Config) row {
	all := []panel{{kind: traces, title: "Slow acquires, as traces", w: full, h: chartHeight,
		queries: []query{{expr: `{ name = "lock.acquire" && span.distributed_lock.resource =~ "` + resourcePattern + `.*" && duration > 100ms }`}},
		about:   "Acquires of this resource that took longer than 100 ms, of the first Tempo that Grafana has. Good: none. The span links to the holder that was waited for. Empty without traces."}}
	if c.Boards.LogSelector == "" {
		return folded("Traces of $resource", all)
	}
	return folded("Logs and traces of $resource", append(all, panel{kind: logLines, title: "Logs", w: full, h: chartHeight + 2,
		queries: []query{{expr: c.Boards.LogSelector + ` |~ "` + resourcePattern + `"`}},
		about:   "Lines that name this resource, of the first Loki that Grafana has: lost leases, failed renewals, long waits with who was waited for. Good: none of these. Empty without Loki."}))
}

// searchVariables choose the first of each kind of source that Grafana has.
func searchVariables(c config.Config) []variable {
	all := []variable{{name: tracesVariable, label: "Traces", about: "The Tempo to ask.", source: "tempo"}}
	if c.Boards.LogSelector != "" {
		all = append(all, variable{name: logsVariable, label: "Logs", about: "The Loki to ask.", source: "loki"})
	}
	return all
}
