package boards

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// variable is something the reader may choose.
type variable struct {
	name, label, about string
	query              string // empty: the data source
	some               bool   // begins with one value, not with all
}

// Build implements cog.Builder. All variables may have several values, even where one
// is wanted: only then does Grafana escape what a pattern would misread, such as
// the * of order:*.
func (v variable) Build() (dashboard.VariableModel, error) {
	if v.query == "" {
		return dashboard.NewDatasourceVariableBuilder(v.name).Label(v.label).Description(v.about).Type("prometheus").Build()
	}
	query := selectors.Replace(v.query)
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
	return b.Multi(true).IncludeAll(true).AllValue(".+").Current(all).Build()
}

// processes are the variables of every dashboard: the values of each depend on those
// of the one before. Every process in question has one of the metrics.
func processes(metrics ...string) []variable {
	match := fmt.Sprintf(`__name__=~"%s"`, strings.Join(metrics, "|"))
	return []variable{
		{name: "datasource", label: "Data source", about: "The Prometheus to ask."},
		{name: "job", label: "Job", about: "Scrape jobs.", query: "label_values({" + match + "}, job)"},
		{name: "instance", label: "Instance", about: "Processes of these jobs.", query: "label_values({J," + match + "}, instance)"},
	}
}

func resources(some bool) variable {
	return variable{name: "resource", label: "Resource", some: some,
		about: "Resources as they are counted: parts that look like ids are *.",
		query: "label_values(distributed_lock_wait_seconds_count{I}, resource)"}
}

func redisNodes(metric string) variable {
	return variable{name: "lock_node", label: "Lock node", about: "Nodes that hold locks.",
		query: "label_values(" + metric + "{I}, lock_node)"}
}
