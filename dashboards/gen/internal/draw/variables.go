package draw

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/lockscope/lockscope/dashboards/deploy"
)

// Variable is a choice of the reader.
type Variable struct {
	name, label, about string
	query              string // for its values
	some               bool   // starts with one value, not with all
	source             string // the type of a data source
	cluster            bool   // also matches series without the label
	fill               filler
}

// Build implements cog.Builder. All variables allow several values, even if one is enough: only then does
// Grafana escape pattern characters such as the * of order:*.
func (v Variable) Build() (dashboard.VariableModel, error) {
	if v.source != "" {
		b := dashboard.NewDatasourceVariableBuilder(v.name).Label(v.label).Description(v.about).Type(v.source)
		if v.source != prometheusSource {
			b.Hide(dashboard.VariableHideHideVariable) // there may be none
		}
		return b.Build()
	}
	query := v.fill.Replace(v.query)
	b := dashboard.NewQueryVariableBuilder(v.name).Label(v.label).Description(v.about).
		Datasource(source()).Definition(query).
		Query(dashboard.StringOrMap{Map: map[string]any{"query": query, "refId": "variable-" + v.name, "qryType": 1}}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
	if v.some {
		return b.Multi(true).IncludeAll(false).Build()
	}
	all := dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
		Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
	}
	every := ".+"
	if v.cluster {
		every = ".*" // series may not have the label
	}
	return b.Multi(true).IncludeAll(true).AllValue(every).Current(all).Build()
}

const prometheusSource = "prometheus"

// Processes returns the variables of every dashboard. The values of each depend on the variable before it.
// Every relevant process has one of the metrics.
func Processes(metrics ...string) []Variable {
	const cluster = deploy.ClusterLabel
	match := fmt.Sprintf(`__name__=~"%s"`, strings.Join(metrics, "|"))
	return []Variable{
		{name: "datasource", label: "Data source", about: "The Prometheus to query.", source: prometheusSource},
		{name: cluster, label: "Cluster", about: "Values of the label " + cluster + ", if series have it.",
			cluster: true,
			query:   "label_values({" + match + "}, " + cluster + ")"},
		{name: "job", label: "Job", about: "Scrape jobs.", query: "label_values({C," + match + "}, job)"},
		{name: "instance", label: "Instance", about: "Processes of these jobs.",
			query: "label_values({J," + match + "}, instance)"},
	}
}

// Resources selects resources, at first all.
func Resources() Variable { return resources(false) }

// OneResource selects resources, at first one.
func OneResource() Variable { return resources(true) }

func resources(some bool) Variable {
	return Variable{name: "resource", label: "Resource", some: some,
		about: "Values of the label resource. Parts that look like ids are *.",
		query: "label_values(distributed_lock_waiting{I}, resource)"}
}

// LockNodes selects nodes that have the metric.
func LockNodes(metric string) Variable {
	return Variable{name: "lock_node", label: "Lock node", about: "Nodes that hold locks.",
		query: "label_values(" + metric + "{I}, lock_node)"}
}

// Tempo selects the first Tempo in Grafana. Panels of traces query it.
func Tempo() Variable {
	return Variable{name: tracesVariable, label: "Traces", about: "The Tempo to query.", source: "tempo"}
}

// Loki selects the first Loki in Grafana. Panels of logs query it.
func Loki() Variable {
	return Variable{name: logsVariable, label: "Logs", about: "The Loki to query.", source: "loki"}
}
