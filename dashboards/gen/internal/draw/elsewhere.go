package draw

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/logs"
	"github.com/grafana/grafana-foundation-sdk/go/loki"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/tempo"
	"github.com/grafana/grafana-foundation-sdk/go/text"
)

// elsewhere builds panels that do not query Prometheus.
func (p Panel) elsewhere() (dashboard.Panel, error) {
	var made dashboard.Panel
	var err error
	switch p.Kind {
	case Logs:
		made, err = p.logs("loki", logsVariable).Build()
	case Traces:
		made, err = p.traces("tempo", tracesVariable).Build()
	case Words:
		made, err = text.NewPanelBuilder().Mode(text.TextModeMarkdown).Content(p.Text).Build()
	default:
		made = alertsInGrafana()
	}
	made.Title, made.Description = &p.Title, &p.About
	return made, err
}

func (p Panel) logs(kind, variable string) cog.Builder[dashboard.Panel] {
	from := chosen(kind, variable)
	return logs.NewPanelBuilder().Datasource(from).ShowTime(true).WrapLogMessage(true).EnableLogDetails(true).
		SortOrder(common.LogsSortOrderDescending).DedupStrategy(common.LogsDedupStrategyNone).
		WithTarget(loki.NewDataqueryBuilder().RefId("A").Datasource(from).Expr(p.Queries[0].Expr).QueryType("range").
			MaxLines(200))
}

func (p Panel) traces(kind, variable string) cog.Builder[dashboard.Panel] {
	from := chosen(kind, variable)
	return table.NewPanelBuilder().Datasource(from).ShowHeader(true).CellHeight(common.TableCellHeightSm).
		WithTarget(target{tempo.NewDataqueryBuilder().RefId("A").Datasource(from).QueryType("traceql").
			Query(p.Queries[0].Expr).TableType(tempo.SearchTableTypeTraces).Limit(50)})
}

// target adapts a query of the SDK to its panels.
type target struct {
	cog.Builder[variants.Dataquery]
}

func chosen(kind, variable string) common.DataSourceRef {
	return common.DataSourceRef{Type: &kind, Uid: new("${" + variable + "}")}
}

// alertsInGrafana is Grafana's own list of the alerts of these rules in all its sources, without the watchdog.
func alertsInGrafana() dashboard.Panel {
	return dashboard.Panel{Type: "alertlist", Options: map[string]any{
		"alertName": "DistributedLock", "alertInstanceLabelFilter": `{severity=~"critical|warning"}`,
		"dashboardAlerts": false, "groupMode": "default", "groupBy": []string{}, "maxItems": 20, "sortOrder": 3,
		"viewMode": "list",
		"stateFilter": map[string]bool{"firing": true, "pending": true, "noData": false, "normal": false,
			"error": true},
	}}
}
