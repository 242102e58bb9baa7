package boards

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/alerts"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/resources"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// Heights of the overview's lines. Together they fit on one screen.
const overviewHeight, objectivesHeight = 7, 6

// overviewBoard is one screen: what is wrong first, then who causes it, then what it costs.
func overviewBoard(c config.Config) draw.Board {
	o := resources.ObjectivesOf(c)
	return draw.Board{
		UID: "lockscope-overview", Title: "Distributed locks / Overview", From: "now-1h",
		About: "Start here in an incident: what is wrong, which locks callers wait for, who makes them wait, and the " +
			"objectives. The other dashboards have the details. Objectives: " + o.Promise() + ".",
		Variables: append(draw.Processes("distributed_lock_waiting", "distributed_lock_scanner_up"),
			draw.Resources()),
		Marks: []draw.Mark{draw.Losses()},
		Rows: []draw.Row{
			{Panels: stateTiles(c)},
			{Panels: []draw.Panel{alerts.ByName().Sized(16, overviewHeight), resources.WaitClasses().Sized(8, overviewHeight)}},
			{Panels: []draw.Panel{resources.Contended(c).Sized(14, overviewHeight),
				resources.Blame(c).Sized(10, overviewHeight)}},
			{Panels: []draw.Panel{objectivesSummary(o).Sized(14, objectivesHeight),
				resources.AcquiresByOutcome().Sized(10, objectivesHeight)}},
		},
	}
}

func objectivesSummary(o resources.Objectives) draw.Panel {
	by := " by ($JOB, resource)"
	return draw.Panel{Kind: draw.Table, Title: "Objectives by resource", Unit: "short", Decimals: draw.Auto,
		About: "The resources that have used most of their budgets, without elections. Good: all green. " +
			"Acquires that stalled calls prevent count as failed and slow. Below 0 % of the " + o.Period.String() +
			" budget the objective is missed. Alerts and objectives has all columns. Budgets need the recording rules.",
		Queries: draw.Instants(o.Asked(by), o.Available(by), o.AvailabilityLeftOfPeriod(), o.GoodWaits(by),
			o.WaitLeftOfPeriod()),
		Columns: []draw.Column{
			{Title: "Acquires", Unit: "short", Steps: draw.Neutral(), Width: 80},
			{Title: "Availability", Unit: "percentunit", Decimals: 2, Steps: draw.AtLeast(o.Availability), Width: 95},
			{Title: "Error budget left", Unit: "percentunit", Decimals: 0, Steps: draw.BudgetLeft(), Width: 140},
			{Title: "Good waits", Unit: "percentunit", Decimals: 2, Steps: draw.AtLeast(o.Wait), Width: 95},
			{Title: "Wait budget left", Unit: "percentunit", Decimals: 0, Steps: draw.BudgetLeft(), Width: 140},
		},
		Sorted: []string{"Error budget left", "Wait budget left"}, Rising: true,
		Order: []string{"resource", "job"}, Cells: []draw.LabelColumn{draw.ResourceCell()}, Narrow: draw.LabelWidth,
	}
}
