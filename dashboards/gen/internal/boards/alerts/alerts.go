// Package alerts has the board of alerts and objectives. The overview repeats some of its panels.
package alerts

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/leaks"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/resources"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Board has every firing alert and every objective.
func Board(c config.Config) draw.Board {
	o := resources.ObjectivesOf(c)
	return draw.Board{
		UID: "lockscope-alerts", Title: "Distributed locks / Alerts and objectives", From: "now-3h",
		About: "Every alert that fires, the objectives of every resource, and how fast their budgets burn. Objectives: " +
			o.Promise() + ".",
		Variables: append(draw.Processes("distributed_lock_waiting", "distributed_lock_scanner_up"),
			draw.Resources()),
		Marks: []draw.Mark{draw.Losses()},
		Rows: []draw.Row{
			{Title: "What fires", Panels: firingPanels()},
			{Title: "In the time shown, and fresh data", Panels: alertTiles(c, o)},
			{Title: "Objectives", Panels: allObjectives(c, o)},
		},
	}
}

// firingPanels list every firing alert with its age and runbook, from Prometheus and from Grafana.
func firingPanels() []draw.Panel {
	const height = 9
	age := `(time() - ALERTS_FOR_STATE{J,alertname=~"DistributedLock.+"} and ignoring (alertstate) ` + firing() + `)`
	return []draw.Panel{
		{Kind: draw.Table, Title: "Each firing alert", Width: 2 * draw.Third, Height: height, Unit: "short",
			Decimals: draw.Auto,
			None:     noAlert,
			About: "Alerts of these rules that fire for the chosen jobs, causes first, and for how long. Good: none. " +
				"Follows: a consequence of another alert. Click the name for the runbook, the resource or the node for its " +
				"dashboard. The overview has a line for each name.",
			Queries: draw.Instants(`0 * `+age+` + ignoring (alertstate) (`+urgency()+`)`, age),
			Columns: []draw.Column{whatToDo(),
				{Title: "Active for", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 100}},
			Sorted: []string{"Do", "Active for"},
			Order:  []string{"alertname", "Value #A", "Value #B", "resource", "lock_node", "job", "instance"},
			Hidden: []string{"severity", "backend", "class", "reason", "group", "slo", "long_window", "short_window"},
			Cells:  alertCells(), Narrow: draw.LabelWidth},
		{Kind: draw.AlertList, Title: "Alerts in Grafana", Width: draw.Third, Height: height,
			About: "The same alerts in Grafana, with pending ones and silences. Good: none. Empty if Grafana does not " +
				"read Prometheus's rules."},
	}
}

// alertTiles show the objectives, and whether the data of the scanner is fresh.
func alertTiles(c config.Config, o resources.Objectives) []draw.Panel {
	stale, period := time.Duration(c.Alerts.ScannerStale).Seconds(), " in "+o.Period.String()
	return []draw.Panel{
		draw.Tile("Worst availability", "percentunit", 2, draw.AtLeast(o.Availability),
			draw.Now("bottomk(1, "+o.Available(" by ($JOB, resource)")+")"),
			"The resource with the largest share of failed acquires in the time shown. Acquires that stalled calls "+
				"prevent count as failed. Good: "+resources.Percent(o.Availability)+
				" % or more. A small resource that always fails shows here, but not in the average beside it.").
			Naming("{{resource}}"),
		draw.Tile("Availability", "percentunit", 3, draw.AtLeast(o.Availability), draw.Now(o.Available("")),
			"Share of acquires in the time shown that got the lock, over all resources. Good: "+
				resources.Percent(o.Availability)+" % or more. If it is lower, see Objectives for the resource and "+
				"Resources for the reason."),
		draw.Tile("Error budget left", "percentunit", 1, draw.BudgetLeft(), draw.Now("min("+o.AvailabilityLeftOfPeriod()+")"),
			"Failures that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: make no risky changes "+
				"to this resource's services until it recovers. Needs the recording rules."),
		draw.Tile("Wait budget left", "percentunit", 1, draw.BudgetLeft(), draw.Now("min("+o.WaitLeftOfPeriod()+")"),
			"Slow waits that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: shorten the work "+
				"under the lock, or split the resource. Resources where queues are expected do not count. Needs the "+
				"recording rules."),
		draw.Tile("Good waits", "percentunit", 2, draw.AtLeast(o.Wait), draw.Now(o.GoodWaits("")),
			fmt.Sprintf(
				"Share of acquires in the time shown that waited at most %v s, without elections and resources "+
					"where queues are expected. Good: %s %% or more. If it is lower, find the resource in the table: "+
					"holds or demand have grown.", o.Within, resources.Percent(o.Wait))),
		draw.Tile("Leaked locks", "short", 0, draw.AnyIsBad(), draw.Now(leaks.FindingKeys("no_ttl")),
			"Lock keys of any library without a TTL, confirmed by the scanner. A key on several nodes counts once, "+
				"and again for each further job that sweeps them. "+
				"Good: 0. Callers that wait for one wait forever: see Leaks."),
		draw.Tile("Scan age", "s", draw.Auto, draw.Steps(draw.Green, draw.At(stale/2, draw.Orange), draw.At(stale, draw.Red)),
			draw.Now("max(time() - max by ($CLUSTER lock_node) ("+leaks.LastSuccess+"{I} > 0))"),
			fmt.Sprintf(
				"Time since the last complete sweep, of the node with the oldest. Good: a few sweep intervals. Above "+
					"%s the findings shown are old.", c.Alerts.ScannerStale)),
		draw.Tile("Exporter age", "s", draw.Auto, draw.Steps(draw.Green, draw.At(120, draw.Orange), draw.At(300, draw.Red)),
			draw.Now("max(time() - "+rules.ExporterSeen+"{J})"),
			"Time since an exporter of the chosen jobs was last scraped, of the job with the oldest. Good: below two "+
				"minutes. More: leaks and nodes shown here are old. Needs the recording rules."),
	}
}

func allObjectives(c config.Config, o resources.Objectives) []draw.Panel {
	by := " by ($JOB, resource)"
	p99 := `histogram_quantile(0.99, sum by ($JOB, resource, le)
		(increase(distributed_lock_wait_seconds_bucket{R}[$__range]))) >= 0` + // without acquires it is NaN
		resources.Elections
	period := " left, " + o.Period.String()
	fast := o.Windows[0].Long
	return []draw.Panel{
		{Kind: draw.Table, Title: "Objectives by resource", Width: draw.Full, Height: 9, Unit: "short", Decimals: draw.Auto,
			About: "One line per resource, without elections. Resources where queues are expected have no wait budget. " +
				"Good: all green. A budget below 0 % is spent: the resource has missed its " +
				"objective, in the time shown or in " + o.Period.String() + ". Click a resource to see it in depth.",
			Queries: draw.Instants(o.Asked(by),
				o.Available(by), o.AvailabilityLeft(by), o.AvailabilityLeftOfPeriod(),
				o.GoodWaits(by), o.WaitLeft(by), o.WaitLeftOfPeriod(), p99),
			Columns: []draw.Column{
				{Title: "Acquires", Unit: "short", Steps: draw.Neutral(), Width: 110},
				{Title: "Availability", Unit: "percentunit", Decimals: 3, Steps: draw.AtLeast(o.Availability), Width: 120},
				{Title: "Error budget left", Unit: "percentunit", Steps: draw.BudgetLeft()},
				{Title: "Error budget" + period, Unit: "percentunit", Steps: draw.BudgetLeft(), Width: 180},
				{Title: "Good waits", Unit: "percentunit", Decimals: 2, Steps: draw.AtLeast(o.Wait), Width: 120},
				{Title: "Wait budget left", Unit: "percentunit", Steps: draw.BudgetLeft()},
				{Title: "Wait budget" + period, Unit: "percentunit", Steps: draw.BudgetLeft(), Width: 180},
				{Title: "Wait p99", Unit: "s", Decimals: draw.Auto, Steps: draw.Above(c.Alerts.WaitP99Seconds), Width: 110},
			},
			Order:  []string{"resource", "job"},
			Sorted: []string{"Error budget" + period, "Wait budget" + period}, Rising: true,
			Cells: []draw.LabelColumn{draw.ResourceCell()},
		},
		o.Burning(draw.Chart("Error budget burn rate, "+fast.String(), "short", draw.Half,
			draw.History(fmt.Sprintf("%s{S} / (1 - %v)", rules.FailureRatio(fast), o.Availability), "{{job}} {{resource}}"),
			"Failures as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.")).Linking(draw.ToResource()).Largest(c.Boards.Top),
		o.Burning(draw.Chart("Wait budget burn rate, "+fast.String(), "short", draw.Half,
			draw.History(o.WaitBurn(fast), "{{job}} {{resource}}"),
			"Slow waits as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.")).Linking(draw.ToResource()).Largest(c.Boards.Top),
	}
}
