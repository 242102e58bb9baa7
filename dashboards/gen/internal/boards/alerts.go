package boards

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/leaks"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/objectives"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// alertsBoard has every firing alert and every objective.
func alertsBoard(c config.Config) board {
	o := objectives.Of(c)
	return board{
		UID: "lockscope-alerts", Title: "Distributed locks / Alerts and objectives", From: "now-3h",
		About: "Every alert that fires, the objectives of every resource, and how fast their budgets burn. Objectives: " +
			o.Promise() + ".",
		Variables: append(processes("distributed_lock_wait_seconds_count", "distributed_lock_scanner_up"),
			draw.Resources()),
		Marks: []mark{losses()},
		Rows: []row{
			{Title: "What fires", Panels: firingPanels()},
			{Title: "In the time shown, and fresh data", Panels: alertTiles(c, o)},
			{Title: "Objectives", Panels: allObjectives(c, o)},
		},
	}
}

// firingPanels list every firing alert with its age and runbook, from Prometheus and from Grafana.
func firingPanels() []panel {
	const height = 9
	age := `(time() - ALERTS_FOR_STATE{J,alertname=~"DistributedLock.+"} and ignoring (alertstate) ` + firing() + `)`
	return []panel{
		{Kind: grid, Title: "Each firing alert", Width: 2 * third, Height: height, Unit: "short", Decimals: auto,
			None: "no alert is firing",
			About: "Alerts of these rules that fire for the chosen jobs, causes first, and for how long. Good: none. " +
				"Follows: a consequence of another alert. Click the name for the runbook, the resource or the node for its " +
				"dashboard. The overview has a line for each name.",
			Queries: instants(`0 * `+age+` + ignoring (alertstate) (`+urgency()+`)`, age),
			Columns: []column{whatToDo(),
				{Title: "Active for", Unit: "s", Decimals: auto, Steps: neutral(), Width: 100}},
			Sorted: []string{"Do", "Active for"},
			Order:  []string{"alertname", "Value #A", "Value #B", "resource", "lock_node", "job", "instance"},
			Hidden: []string{"severity", "backend", "class", "reason", "group", "slo", "long_window", "short_window"},
			Cells:  alertCells(), Narrow: labelWidth},
		{Kind: alertList, Title: "Alerts in Grafana", Width: third, Height: height,
			About: "The same alerts in Grafana, with pending ones and silences. Good: none. Empty if Grafana does not " +
				"read Prometheus's rules."},
	}
}

// alertTiles show the objectives, and whether the data of the scanner is fresh.
func alertTiles(c config.Config, o objectives.Objectives) []panel {
	stale, period := time.Duration(c.Alerts.ScannerStale).Seconds(), " in "+o.Period.String()
	return []panel{
		tile("Worst availability", "percentunit", 2, atLeast(o.Availability),
			now("bottomk(1, "+o.Available(" by ($JOB, resource)")+")"),
			"The resource with the largest share of failed acquires in the time shown. Acquires that stalled calls "+
				"prevent count as failed. Good: "+objectives.Percent(o.Availability)+
				" % or more. A small resource that always fails shows here, but not in the average beside it.").
			Naming("{{resource}}"),
		tile("Availability", "percentunit", 3, atLeast(o.Availability), now(o.Available("")),
			"Share of acquires in the time shown that got the lock, over all resources. Good: "+
				objectives.Percent(o.Availability)+" % or more. If it is lower, see Objectives for the resource and "+
				"Resources for the reason."),
		tile("Error budget left", "percentunit", 1, budgetLeft(), now("min("+o.AvailabilityLeftOfPeriod()+")"),
			"Failures that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: make no risky changes "+
				"to this resource's services until it recovers. Needs the recording rules."),
		tile("Wait budget left", "percentunit", 1, budgetLeft(), now("min("+o.WaitLeftOfPeriod()+")"),
			"Slow waits that the worst resource may still have"+period+
				", as a share of its budget. Good: above 50 %. Below 0 the objective is broken: shorten the work "+
				"under the lock, or split the resource. Needs the recording rules."),
		tile("Good waits", "percentunit", 2, atLeast(o.Wait), now(o.GoodWaits("")),
			fmt.Sprintf(
				"Share of acquires in the time shown that waited at most %v s. Good: %s %% or more. If it is lower, "+
					"find the resource in the table: holds or demand have grown.", o.Within, objectives.Percent(o.Wait))),
		tile("Leaked locks", "short", 0, anyIsBad(), now(leaks.FindingKeys("no_ttl")),
			"Lock keys of any library without a TTL, confirmed by the scanner. A key on several nodes counts once. "+
				"Good: 0. Callers that wait for one wait forever: see Leaks."),
		tile("Scan age", "s", auto, steps(green, at(stale/2, orange), at(stale, red)),
			now("max(time() - max by ($CLUSTER lock_node) ("+leaks.LastSuccess+"{I} > 0))"),
			fmt.Sprintf(
				"Time since the last complete sweep, of the node with the oldest. Good: a few sweep intervals. Above "+
					"%s the findings shown are old.", c.Alerts.ScannerStale)),
		tile("Exporter age", "s", auto, steps(green, at(120, orange), at(300, red)),
			now("max(time() - "+rules.ExporterSeen+"{J})"),
			"Time since an exporter of the chosen jobs was last scraped, of the job with the oldest. Good: below two "+
				"minutes. More: leaks and nodes shown here are old. Needs the recording rules."),
	}
}

func allObjectives(c config.Config, o objectives.Objectives) []panel {
	by := " by ($JOB, resource)"
	p99 := `histogram_quantile(0.99, sum by ($JOB, resource, le)
		(increase(distributed_lock_wait_seconds_bucket{R}[$__range]))) >= 0` // without acquires it is NaN
	period := " left, " + o.Period.String()
	fast := o.Windows[0].Long
	return []panel{
		{Kind: grid, Title: "Objectives by resource", Width: full, Height: 9, Unit: "short", Decimals: auto,
			About: "One line per resource. Good: all green. A budget below 0 % is spent: the resource has missed its " +
				"objective, in the time shown or in " + o.Period.String() + ". Click a resource to see it in depth.",
			Queries: instants(o.Asked(by),
				o.Available(by), o.AvailabilityLeft(by), o.AvailabilityLeftOfPeriod(),
				o.GoodWaits(by), o.WaitLeft(by), o.WaitLeftOfPeriod(), p99),
			Columns: []column{
				{Title: "Acquires", Unit: "short", Steps: neutral(), Width: 110},
				{Title: "Availability", Unit: "percentunit", Decimals: 3, Steps: atLeast(o.Availability), Width: 120},
				{Title: "Error budget left", Unit: "percentunit", Steps: budgetLeft()},
				{Title: "Error budget" + period, Unit: "percentunit", Steps: budgetLeft(), Width: 180},
				{Title: "Good waits", Unit: "percentunit", Decimals: 2, Steps: atLeast(o.Wait), Width: 120},
				{Title: "Wait budget left", Unit: "percentunit", Steps: budgetLeft()},
				{Title: "Wait budget" + period, Unit: "percentunit", Steps: budgetLeft(), Width: 180},
				{Title: "Wait p99", Unit: "s", Decimals: auto, Steps: above(c.Alerts.WaitP99Seconds), Width: 110},
			},
			Order:  []string{"resource", "job"},
			Sorted: []string{"Error budget" + period, "Wait budget" + period}, Rising: true,
			Cells: []labelColumn{resourceCell()},
		},
		o.Burning(chart("Error budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.FailureRatio(fast), o.Availability), "{{job}} {{resource}}"),
			"Failures as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.")).Linking(toResource()).Largest(c.Boards.Top),
		o.Burning(chart("Wait budget burn rate, "+fast.String(), "short", half,
			course(fmt.Sprintf("%s{S} / (1 - %v)", rules.SlowRatio(fast), o.Wait), "{{job}} {{resource}}"),
			"Slow waits as a multiple of what the budget allows. Good: below 1. Alerts fire above the dashed lines. "+
				"Needs the recording rules.")).Linking(toResource()).Largest(c.Boards.Top),
	}
}
