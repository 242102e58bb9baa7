package boards

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// underWay shows calls that have not returned, which no counter and no histogram has.
func underWay(c config.Config) []panel {
	return []panel{
		chart("Oldest wait under way", "s", third,
			course(since("distributed_lock_waiting_since_timestamp_seconds{R}", "$JOB, resource"),
				"{{job}} {{resource}}"),
			"For how long the call has waited that began first and has not returned. Good: returns to 0 again and again. A "+
				"line that climbs is a call that nobody serves: look beside it for the reason.").leading(toResource()).
			largest(c.Boards.Top),
		chart("Waiting above the objective", "short", third,
			course(`sum by ($JOB, resource) (distributed_lock_waiting_above_objective{R})`, "{{job}} {{resource}}"),
			"Calls under way that have waited for longer than the objective of their processes. Good: none for long. They wait "+
				"for a holder, or for nodes: the chart beside it tells which.").leading(toResource()).largest(
			c.Boards.Top),
		chart("Waiting for nodes", "short", third,
			course(`sum by ($JOB, resource) (`+
				rules.Stalled+`{J,instance=~"$instance",resource=~"$resource"})
			or 0 * sum by ($JOB, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Calls under way that are not served because too few nodes answer. Good: 0. Anything above it for a minute fires "+
				"an alert. Needs the recording rules.").marked(steps(green, step{1, red})).leading(toResource()).
			largest(c.Boards.Top),
	}
}
