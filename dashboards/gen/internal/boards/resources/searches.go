package resources

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// resourcePattern matches the resources of a label value: order:* stands for order:1001, and as a pattern it
// matches its beginning.
const resourcePattern = `(${resource:pipe})`

// searched is the row with logs and traces of the selected resource.
func searched(c config.Config) draw.Row {
	all := []draw.Panel{{Kind: draw.Traces, Title: "Slow acquires, as traces", Width: draw.Full, Height: draw.ChartHeight,
		Queries: []draw.Query{{Expr: `{ name = "lock.acquire" && span.distributed_lock.resource =~ "` + resourcePattern +
			`.*" && duration > 100ms }`}},
		About: "Acquires of this resource that took longer than 100 ms, from the first Tempo in Grafana. Good: none. " +
			"The span links to the holder that it waited for. Empty without traces."}}
	if c.Boards.LogSelector == "" {
		return draw.Folded("Traces of $resource", all)
	}
	return draw.Folded("Logs and traces of $resource",
		append(all, draw.Panel{Kind: draw.Logs, Title: "Logs", Width: draw.Full, Height: draw.ChartHeight + 2,
			Queries: []draw.Query{{Expr: c.Boards.LogSelector + ` |~ "` + resourcePattern + `"`}},
			About: "Log records that name this resource, from the first Loki in Grafana: lost leases, failed " +
				"renewals, long waits with their holder. Good: none. Empty without Loki."}))
}

// searchVariables select the first source of each kind in Grafana.
func searchVariables(c config.Config) []draw.Variable {
	all := []draw.Variable{draw.Tempo()}
	if c.Boards.LogSelector != "" {
		all = append(all, draw.Loki())
	}
	return all
}
