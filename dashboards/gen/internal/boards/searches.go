package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/config"

// resourcePattern matches the resources of a label value: order:* stands for order:1001, and as a pattern it
// matches its beginning.
const resourcePattern = `(${resource:pipe})`

// searched is the row with logs and traces of the selected resource.
func searched(c config.Config) row {
	all := []panel{{Kind: traces, Title: "Slow acquires, as traces", Width: full, Height: chartHeight,
		Queries: []query{{Expr: `{ name = "lock.acquire" && span.distributed_lock.resource =~ "` + resourcePattern +
			`.*" && duration > 100ms }`}},
		About: "Acquires of this resource that took longer than 100 ms, from the first Tempo in Grafana. Good: none. " +
			"The span links to the holder that it waited for. Empty without traces."}}
	if c.Boards.LogSelector == "" {
		return folded("Traces of $resource", all)
	}
	return folded("Logs and traces of $resource",
		append(all, panel{Kind: logLines, Title: "Logs", Width: full, Height: chartHeight + 2,
			Queries: []query{{Expr: c.Boards.LogSelector + ` |~ "` + resourcePattern + `"`}},
			About: "Log records that name this resource, from the first Loki in Grafana: lost leases, failed " +
				"renewals, long waits with their holder. Good: none. Empty without Loki."}))
}

// searchVariables select the first source of each kind in Grafana.
func searchVariables(c config.Config) []variable {
	all := []variable{anyTempo()}
	if c.Boards.LogSelector != "" {
		all = append(all, anyLoki())
	}
	return all
}
