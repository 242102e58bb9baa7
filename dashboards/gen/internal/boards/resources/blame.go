package resources

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// callers is the unit of seconds of waiting per second, which is the mean number of callers that wait.
const callers = "suffix:callers"

// classTints colours what callers wait for: a holder is normal, a missing quorum is an outage.
func classTints() []draw.Tint {
	return []draw.Tint{draw.In(draw.Blue, "holder"), draw.In("light-blue", "network"),
		draw.In(draw.Yellow, "backing_off"), draw.In(draw.Purple, "quarantined"),
		draw.In(draw.Red, "no_quorum")}
}

// WaitClasses stacks what callers wait for.
func WaitClasses() draw.Panel {
	return draw.Chart("Callers waiting, by class", callers, draw.Half,
		draw.History(`sum by (class) (rate(distributed_lock_wait_class_seconds_total{R}[$__rate_interval]))`, "{{class}}"),
		"What callers wait for, calls in progress included: seconds of waiting per second, which is the mean number of "+
			"callers. Good: little but holder. network: nodes are slow. no_quorum: too few nodes answer. quarantined: nodes "+
			"do not vote yet after a restart. backing_off: callers retry one another's locks.").
		Stacked().Reaching(1).Tinted(classTints()...).Otherwise("no process reports classes of waits")
}

// waited is the time that callers waited in the time shown. Only the counter by class includes calls in progress;
// processes of earlier versions do not have it.
func waited(by string) string {
	return fmt.Sprintf(`(sum by (%[1]s) (increase(distributed_lock_wait_class_seconds_total{R}[$__range]))
		or sum by (%[1]s) (increase(distributed_lock_wait_seconds_sum{R}[$__range])))`, by)
}

// Contended has the resources that callers waited for most, also if no call returns.
func Contended(c config.Config) draw.Panel {
	const by = "$JOB, resource"
	most := func(expr string) string {
		return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, waited(by)+standBy)
	}
	return draw.Panel{Kind: draw.Table, Title: "Most contended resources", Unit: "short", Decimals: draw.Auto,
		About: "The resources that callers waited for most in the time shown, calls in progress included. Good: short " +
			"waits, and none without a quorum. Held for: the oldest lease; empty if nothing is held. Click a resource to " +
			"see who holds it.",
		Queries: draw.Instants(
			most(since("distributed_lock_waiting_since_timestamp_seconds{R}", by)),
			most(`sum by (`+by+`) (distributed_lock_waiting{R})`),
			most(`(sum by (`+by+`) (`+rules.Stalled+`{R}) or 0 * sum by (`+by+`) (distributed_lock_waiting{R}))`),
			most(heldFor(by)), most(waited(by)),
			most(`sum by (`+by+`) (rate(distributed_lock_acquisitions_total{R,outcome="acquired"}[$__rate_interval]))`)),
		Columns: []draw.Column{
			{Title: "Longest wait", Unit: "s", Decimals: draw.Auto, Width: 115,
				Steps: draw.Steps(draw.Green, draw.At(c.Alerts.WaitP99Seconds, draw.Orange),
					draw.At(c.Alerts.DrainSeconds, draw.Red))},
			{Title: "Waiting", Unit: "short", Width: 70,
				Steps: draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange), draw.At(10*c.Alerts.Waiters, draw.Red))},
			{Title: "No quorum", Unit: "short", Steps: draw.AnyIsBad(), Width: 85},
			{Title: "Held for", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 95},
			{Title: "Waited", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 95},
			{Title: "Acquired/s", Unit: "short", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 90},
		},
		Sorted: []string{"Longest wait"},
		Order:  []string{"resource", "job"}, Cells: []draw.LabelColumn{draw.ResourceCell()}, Narrow: draw.LabelWidth,
	}
}

// Blame has the holders that made others wait most.
func Blame(c config.Config) draw.Panel {
	const by = "resource, holder, call_site" // without the job, so that names have room
	caused := `sum by (` + by + `) (increase(distributed_lock_inflicted_wait_seconds_total{R}[$__range]))`
	most := func(expr string) string { return fmt.Sprintf("%s and topk(%d, %s)", expr, c.Boards.Top, caused) }
	return draw.Panel{Kind: draw.Table, Title: "Who makes others wait", Unit: "short", Decimals: draw.Auto,
		None: "nobody waits for a holder",
		About: "Holders, and the code that took the lock, by the time that they made callers wait in the time shown. Calls " +
			"in progress are included. Good: small times, spread evenly. One holder far above the others: look at its code " +
			"under the lock. being handed over: nobody held it, because it was kept for the next waiter. unknown: no node " +
			"named " +
			"the holder. other: beyond the limit of series.",
		Queries: draw.Instants(most(caused),
			most(`sum by (`+by+`) (rate(distributed_lock_inflicted_wait_seconds_total{R}[$__rate_interval]))`)),
		Columns: []draw.Column{
			{Title: "Caused", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 95},
			{Title: "Now", Unit: callers, Decimals: 1, Width: 100,
				Steps: draw.Steps(draw.Green, draw.At(c.Alerts.Waiters, draw.Orange), draw.At(10*c.Alerts.Waiters, draw.Red))},
		},
		Sorted: []string{"Caused"},
		Order:  []string{"holder", "call_site", "resource", "Value #A", "Value #B"},
		Cells:  []draw.LabelColumn{draw.ResourceOfAnyJob()},
	}
}
