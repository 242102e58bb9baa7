package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/config"

// resourcePattern matches the resources of a label value: order:* stands for order:1001, and as a pattern it
// matches its beginning.
const resourcePattern = `(${resource:pipe})`

// searched is the row with logs and traces of the selected resource.
func searched(c config.Config) row {
	all := []panel{{kind: traces, title: "Slow acquires, as traces", w: full, h: chartHeight,
		queries: []query{{expr: `{ name = "lock.acquire" && span.distributed_lock.resource =~ "` + resourcePattern +
			`.*" && duration > 100ms }`}},
		about: "Acquires of this resource that took longer than 100 ms, from the first Tempo in Grafana. Good: none. " +
			"The span links to the holder that it waited for. Empty without traces."}}
	if c.Boards.LogSelector == "" {
		return folded("Traces of $resource", all)
	}
	return folded("Logs and traces of $resource",
		append(all, panel{kind: logLines, title: "Logs", w: full, h: chartHeight + 2,
			queries: []query{{expr: c.Boards.LogSelector + ` |~ "` + resourcePattern + `"`}},
			about: "Log records that name this resource, from the first Loki in Grafana: lost leases, failed " +
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
