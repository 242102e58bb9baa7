package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// holders is a table of the processes that hold and wait most.
func holders(c config.Config, title, by string, h uint32) panel {
	waiting, held := "sum by ("+by+") (distributed_lock_waiting{R})", "sum by ("+by+") (distributed_lock_held{R})"
	most := func(expr string) string {
		return fmt.Sprintf("%s and topk(%d, %s + %s)", expr, c.Boards.Top, waiting, held)
	}
	// Values of the last scrape: a lease may have been released since.
	longest := heldFor(by)
	oldest := since("distributed_lock_waiting_since_timestamp_seconds{R}", by)
	mean := fmt.Sprintf("sum by (%[1]s) (increase(distributed_lock_hold_seconds_sum{R}[$__range])) / (sum by (%[1]s) "+
		"(increase(distributed_lock_hold_seconds_count{R}[$__range])) > 0)", by)
	return panel{Kind: grid, Title: title, Width: full, Height: h, Unit: "short", Decimals: auto,
		About: "The processes that hold and wait most. Good: held for about the mean hold. Held for much longer: that " +
			"process is stuck. Click the process for its live page, which names holders, waiters and their calls.",
		Queries: instants("sort_desc("+most(held)+")", most(waiting), most(oldest), most(longest), most(mean)),
		Columns: []column{
			{Title: "Held", Unit: "short", Steps: neutral(), Width: 90},
			{Title: "Waiting", Unit: "short",
				Steps: steps(green, at(c.Alerts.Waiters, orange), at(10*c.Alerts.Waiters, red)), Width: 90},
			{Title: "Oldest wait", Unit: "s", Decimals: auto, Steps: neutral(), Width: 110},
			{Title: "Held for", Unit: "s", Decimals: auto, Steps: neutral(), Width: 110},
			{Title: "Mean hold", Unit: "s", Decimals: auto, Steps: neutral(), Width: 110},
		},
		Order: []string{"resource", "job", "instance"}, Narrow: labelWidth,
		Cells: []labelColumn{
			{Name: "instance", Links: []link{{Title: "Live page of this process", URL: c.Boards.Page(), Away: true}}},
			resourceCell(),
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
