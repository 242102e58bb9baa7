package resources

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// underWay shows calls that have not returned: no counter or histogram includes them.
func underWay(c config.Config) []draw.Panel {
	return []draw.Panel{
		draw.Chart("Oldest waiting call", "s", draw.Third,
			draw.History(since("distributed_lock_waiting_since_timestamp_seconds{R}", "$JOB, resource")+standBy,
				"{{job}} {{resource}}"),
			"How long the oldest call that has not returned has waited. Good: returns to 0 again and again. A line "+
				"that climbs is a call that gets no lock: the charts beside it show why.").Linking(draw.ToResource()).
			Largest(c.Boards.Top),
		draw.Chart("Waiting above the objective", "short", draw.Third,
			draw.History(`sum by ($JOB, resource) (distributed_lock_waiting_above_objective{R})`+standBy, "{{job}} {{resource}}"),
			"Calls in progress that have waited longer than the objective of their processes. Good: none for long. "+
				"They wait for a holder or for nodes: the next chart shows which.").Linking(draw.ToResource()).Largest(
			c.Boards.Top),
		draw.Chart("Waiting for nodes", "short", draw.Third,
			draw.History(`sum by ($JOB, resource) (`+
				rules.Stalled+`{J,instance=~"$instance",resource=~"$resource"})
			or 0 * sum by ($JOB, resource) (distributed_lock_waiting{R})`, "{{job}} {{resource}}"),
			"Calls in progress that wait because too few nodes answer. Good: 0. Above 0 for a minute, an alert fires. "+
				"Needs the recording rules.").Marked(draw.Steps(draw.Green, draw.At(1, draw.Red))).Linking(draw.ToResource()).
			Largest(c.Boards.Top),
	}
}
