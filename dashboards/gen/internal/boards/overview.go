package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/config"

// Heights of the overview's lines. Together they fit on one screen.
const overviewHeight, objectivesHeight = 7, 6

// overviewBoard is one screen: what is wrong first, then who causes it, then what it costs.
func overviewBoard(c config.Config) board {
	o := objectivesOf(c)
	return board{
		uid: "lockscope-overview", title: "Distributed locks / Overview", from: "now-1h",
		about: "Start here in an incident: what is wrong, which locks callers wait for, who makes them wait, and the " +
			"objectives. The other dashboards have the details. Objectives: " + o.promise() + ".",
		variables: append(processes("distributed_lock_wait_seconds_count", "distributed_lock_scanner_up"),
			resources(false)),
		marks: []mark{losses()},
		rows: []row{
			{panels: stateTiles(c)},
			{panels: []panel{firingGroups().sized(16, overviewHeight), waitClasses().sized(8, overviewHeight)}},
			{panels: []panel{contended(c).sized(13, overviewHeight), blame(c).sized(11, overviewHeight)}},
			{panels: []panel{objectivesSummary(o).sized(14, objectivesHeight),
				acquiresByOutcome().sized(10, objectivesHeight)}},
		},
	}
}

func objectivesSummary(o objectives) panel {
	by := " by ($JOB, resource)"
	return panel{kind: grid, title: "Objectives by resource", unit: "short", decimals: auto,
		about: "The resources that have used most of their budgets. Good: all green. Acquires that stalled calls " +
			"prevent count as failed and slow. Below 0 % of the " + o.Period.String() + " budget the objective is " +
			"missed. Alerts and objectives has all columns. Budgets need the recording rules.",
		queries: instants(o.asked(by), o.availability(by), o.availabilityLeftOfPeriod(), o.goodWaits(by),
			o.waitLeftOfPeriod()),
		columns: []column{
			{title: "Acquires", unit: "short", steps: neutral(), width: 80},
			{title: "Availability", unit: "percentunit", decimals: 2, steps: atLeast(o.Availability), width: 95},
			{title: "Error budget left", unit: "percentunit", decimals: 0, steps: budgetLeft(), width: 140},
			{title: "Good waits", unit: "percentunit", decimals: 2, steps: atLeast(o.Wait), width: 95},
			{title: "Wait budget left", unit: "percentunit", decimals: 0, steps: budgetLeft(), width: 140},
		},
		sorted: []string{"Error budget left", "Wait budget left"}, rising: true,
		order: []string{"resource", "job"}, cells: resourceCell(), narrow: labelWidth,
	}
}
