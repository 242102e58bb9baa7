package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// holders is a table of the processes that hold and wait most.
func holders(c config.Config, title, by string, h uint32) draw.Panel {
	waiting, held := "sum by ("+by+") (distributed_lock_waiting{R})", "sum by ("+by+") (distributed_lock_held{R})"
	most := func(expr string) string {
		return fmt.Sprintf("%s and topk(%d, %s + %s)", expr, c.Boards.Top, waiting, held)
	}
	// Values of the last scrape: a lease may have been released since.
	longest := heldFor(by)
	oldest := since("distributed_lock_waiting_since_timestamp_seconds{R}", by)
	mean := fmt.Sprintf("sum by (%[1]s) (increase(distributed_lock_hold_seconds_sum{R}[$__range])) / (sum by (%[1]s) "+
		"(increase(distributed_lock_hold_seconds_count{R}[$__range])) > 0)", by)
	return draw.Panel{Kind: draw.Table, Title: title, Width: draw.Full, Height: h, Unit: "short", Decimals: draw.Auto,
		About: "The processes that hold and wait most. Good: held for about the mean hold. Held for much longer: that " +
			"process is stuck. Click the process for its live page, which names holders, waiters and their calls.",
		Queries: draw.Instants("sort_desc("+most(held)+")", most(waiting), most(oldest), most(longest), most(mean)),
		Columns: []draw.Column{
			{Title: "Held", Unit: "short", Steps: draw.Neutral(), Width: 90},
			{Title: "Waiting", Unit: "short",
				Steps: draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange), draw.At(10*c.Alerts.Waiters, draw.Red)),
				Width: 90},
			{Title: "Oldest wait", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 110},
			{Title: "Held for", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 110},
			{Title: "Mean hold", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 110},
		},
		Order: []string{"resource", "job", "instance"}, Narrow: draw.LabelWidth,
		Cells: []draw.LabelColumn{
			{Name: "instance", Links: []draw.Link{{Title: "Live page of this process", URL: c.Boards.Page(), Away: true}}},
			draw.ResourceCell(),
		},
	}
}

// heldFor is the age of the oldest lease, and nothing where nothing is held.
func heldFor(by string) string {
	const gauge = "distributed_lock_held_since_timestamp_seconds{R}"
	return fmt.Sprintf("clamp_min(max by (%s) (timestamp(%[2]s) - (%[2]s > 0)), 0)", by, gauge)
}

// since returns the time from a gauge's timestamp to the last scrape, or 0.
func since(gauge, by string) string {
	return fmt.Sprintf(`(
			clamp_min(max by (%[1]s) (timestamp(%[2]s) - (%[2]s > 0)), 0)
			or 0 * max by (%[1]s) (%[2]s)
		)`, by, gauge)
}
