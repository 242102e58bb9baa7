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
	return panel{kind: grid, title: title, w: full, h: h, unit: "short", decimals: auto,
		about: "The processes that hold and wait most. Good: held for about the mean hold. Held for much longer: that " +
			"process is stuck. Click the process for its live page, which names holders, waiters and their calls.",
		queries: instants("sort_desc("+most(held)+")", most(waiting), most(oldest), most(longest), most(mean)),
		columns: []column{
			{title: "Held", unit: "short", steps: neutral(), width: 90},
			{title: "Waiting", unit: "short",
				steps: steps(green, at(c.Alerts.Waiters, orange), at(10*c.Alerts.Waiters, red)), width: 90},
			{title: "Oldest wait", unit: "s", decimals: auto, steps: neutral(), width: 110},
			{title: "Held for", unit: "s", decimals: auto, steps: neutral(), width: 110},
			{title: "Mean hold", unit: "s", decimals: auto, steps: neutral(), width: 110},
		},
		order: []string{"resource", "job", "instance"}, narrow: labelWidth,
		cells: []labelColumn{
			{column: "instance", links: []link{{title: "Live page of this process", url: c.Boards.Page(), away: true}}},
			{column: "resource", links: []link{fromRow("This resource in depth", "lockscope-resource", "resource")}},
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
